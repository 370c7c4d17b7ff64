// SPDX-License-Identifier: Apache-2.0
// bench/sor/block.hpp — rows of one thread, relaxed one iteration at a time
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "bench/sor/grid_rows.hpp"

namespace bench {

/// A thread's rows, and one more row on each side: a copy of the neighbour's border row.
///
/// One iteration calls in this order:
///
/// - relax_border(red) next to neighbours, so that the border can be sent early;
/// - relax_inside(), for all cells that need no other thread's red cells;
/// - relax_border(black), after the neighbours' red cells have arrived.
class Block {
 public:
  /// `above` and `below`: whether a neighbour's block is on that side. If not, the fixed edge of
  /// the grid is on that side.
  Block(const DataSet& data, RowRange rows, double omega, bool above, bool below);

  RowRange rows() const { return rows_; }
  GridRows& cells() { return cells_; }
  const GridRows& cells() const { return cells_; }

  /// Both relax functions return the number of half rows that they relaxed.
  std::size_t relax_border(Colour colour);
  /// Relaxes black cells one row behind the red ones. Each row is therefore read and written only
  /// once, while it is in the processor's cache. The values equal those of one pass for each
  /// colour.
  std::size_t relax_inside();

  /// Returns the sum of all changes of cells in the latest iteration. The sum adds the rows in
  /// order, and in each row the red changes before the black ones.
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
