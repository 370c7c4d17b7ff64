// SPDX-License-Identifier: Apache-2.0
// bench/sor/grid_rows.hpp — some rows of a grid, the two colours of each apart.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/sor/data_set.hpp"
#include "bench/sor/half_row.hpp"

namespace bench {

/// Red are the cells whose row and column add up to an even number: all neighbours of a cell have
/// the other colour.
enum class Colour : std::uint8_t { red, black };

/// Rows begin .. end-1.
struct RowRange {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool contains(std::size_t row) const { return begin <= row && row < end; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// Rows of a square grid, in order. Each is kept as its red and its black half, so that what an
/// update reads and writes lies side by side.
class GridRows {
 public:
  GridRows(const DataSet& data, RowRange rows);  ///< as the data set has them

  RowRange rows() const { return rows_; }
  /// The cells of a colour by column. Where there are fewer of one colour, the last is none.
  std::span<double> half(std::size_t row, Colour colour);
  std::span<const double> half(std::size_t row, Colour colour) const;
  std::size_t half_size() const { return (columns_ + 1) / 2; }
  void get_row(std::size_t row, std::span<double> cells) const;

  /// Relaxes the cells of a colour that are not on the grid's edge; the rows above and below must
  /// be here, too. Answers the sum of all changes as relax() says.
  double update(std::size_t row, Colour colour, double omega);
  /// The red cells of a row, then the black ones of the row above it.
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
  std::size_t lines_;  // of a half row
  std::vector<Line> cells_;
};

inline Colour other(Colour colour) { return colour == Colour::red ? Colour::black : Colour::red; }

/// The inner rows of a grid for that many blocks, as even as can be: larger ones first. Throws
/// std::invalid_argument when there are fewer rows than blocks.
std::vector<RowRange> row_blocks(std::size_t size, std::size_t blocks);

}  // namespace bench
