// SPDX-License-Identifier: Apache-2.0
// bench/sor/block.hpp — rows of one thread, relaxed one iteration at a time
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "bench/sor/grid_rows.hpp"

namespace bench {

/// A thread's rows, and one further row on each side of them. The further row is a copy of the
/// neighbour's border row, or the edge of the grid.
///
/// The solver calls these functions in each iteration, in this order:
///
/// - relax_border(red) next to neighbours, so that the border can be sent early;
/// - relax_inside(), for all cells that need no other thread's red cells;
/// - relax_border(black), after the neighbours' red cells have arrived.
class Block {
 public:
  /// `above` and `below` tell whether a neighbour's block is above or below the rows. If not, the
  /// fixed edge of the grid is there.
  Block(const DataSet& data, RowRange rows, double omega, bool above, bool below);

  RowRange rows() const { return rows_; }
  GridRows& cells() { return cells_; }
  const GridRows& cells() const { return cells_; }

  /// Relaxes the cells of one colour in the rows next to neighbours. Returns the number of relaxed
  /// half rows, as relax_inside() does.
  std::size_t relax_border(Colour colour);
  /// Relaxes black cells one row behind the red cells. Each row is therefore read from memory and
  /// written to memory only once. The resulting values are the same as with a pass for each colour.
  std::size_t relax_inside();

  /// Returns the sum of all changes of cells in the latest iteration. The rows are added in order.
  /// In each row, the red changes are added before the black changes.
  double change() const { return change(rows_); }
  double change(RowRange rows) const;

 private:
  double& change_of(std::size_t row, Colour colour);
  void relax(std::size_t row, Colour colour);

  RowRange rows_;
  double omega_;
  bool above_, below_;
  GridRows cells_;
  // Sum of changes of each half row; indexed by colour, then by row.
  std::array<std::vector<double>, 2> changes_;
};

}  // namespace bench
