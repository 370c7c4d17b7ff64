// SPDX-License-Identifier: Apache-2.0
// bench/sor/block.hpp — the rows of one thread, an iteration at a time.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "bench/sor/grid_rows.hpp"

namespace bench {

/// A thread's rows and one more on each side, which holds what the neighbour last told.
///
/// An iteration: relax_border(red) where there are neighbours, so that they can be told at once;
/// relax_inside(), which is all that needs no other thread's red cells; relax_border(black) when
/// the neighbours' red cells are there.
class Block {
 public:
  /// `above`, `below`: is there a neighbour, rather than the fixed edge of the grid?
  Block(const DataSet& data, RowRange rows, double omega, bool above, bool below);

  RowRange rows() const { return rows_; }
  GridRows& cells() { return cells_; }
  const GridRows& cells() const { return cells_; }

  /// Each answers how many half rows it has relaxed.
  std::size_t relax_border(Colour colour);
  /// Black cells follow the red ones by a row, so that rows are read and written once while they
  /// are in the processor's cache; the values are those of two passes.
  std::size_t relax_inside();

  /// Of the iteration: of each row its red and its black changes, rows in order.
  double change() const { return change(rows_); }
  double change(RowRange rows) const;

 private:
  double& change_of(std::size_t row, Colour colour);
  void relax(std::size_t row, Colour colour);

  RowRange rows_;
  double omega_;
  bool above_, below_;
  GridRows cells_;
  std::array<std::vector<double>, 2> changes_;  // by colour and row
};

}  // namespace bench
