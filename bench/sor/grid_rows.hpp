// SPDX-License-Identifier: Apache-2.0
// bench/sor/grid_rows.hpp — rows of a grid, stored by colour
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/sor/data_set.hpp"
#include "bench/sor/half_row.hpp"

namespace bench {

/// Colour of a cell: red if the numbers of its row and column add up to an even number, otherwise
/// black. The four neighbours of a cell have the opposite colour.
enum class Colour : std::uint8_t { red, black };

/// The rows from `begin` to `end - 1`.
struct RowRange {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool contains(std::size_t row) const { return begin <= row && row < end; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// Rows of a square grid, in order. Each row is stored as a red and a black half, so that the cells
/// that are relaxed together are contiguous.
class GridRows {
 public:
  GridRows(const DataSet& data, RowRange rows);  ///< initial cells from the data set

  RowRange rows() const { return rows_; }
  /// Returns the cells of a colour in a row, ordered by column. A row may have one cell less of
  /// this colour than of the other colour. In that case the last entry is unused.
  std::span<double> half(std::size_t row, Colour colour);
  std::span<const double> half(std::size_t row, Colour colour) const;
  std::size_t half_size() const { return (columns_ + 1) / 2; }
  void get_row(std::size_t row, std::span<double> cells) const;

  /// Relaxes the cells of a colour in a row, except those on the grid's edge. Returns the sum of
  /// all changes, added as in relax(). Requires: the object also has the rows above and below.
  double update(std::size_t row, Colour colour, double omega);
  /// Relaxes the red cells of a row, then the black cells of the row above.
  Changes update_both(std::size_t row, double omega);

 private:
  struct alignas(64) Line {
    double cells[8] = {};
  };
  static std::size_t first_column(std::size_t row, Colour colour) {
    return (row + (colour == Colour::red ? 0 : 1)) % 2;
  }
  HalfRow points(std::size_t row, Colour colour);
  void put_row(std::size_t row, std::span<const double> cells);

  std::size_t columns_;
  RowRange rows_;
  std::size_t lines_;  // cache lines per half row
  std::vector<Line> cells_;
};

inline Colour other(Colour colour) { return colour == Colour::red ? Colour::black : Colour::red; }

/// Divides the inner rows of a grid into blocks as evenly as possible. Larger blocks come first.
/// Throws std::invalid_argument if there are fewer rows than blocks.
std::vector<RowRange> row_blocks(std::size_t size, std::size_t blocks);

}  // namespace bench
