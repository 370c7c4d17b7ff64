// SPDX-License-Identifier: Apache-2.0
// bench/sor/grid_rows.cpp — layout of a row's cells in memory
#include "bench/sor/grid_rows.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/errors.hpp"

namespace bench {
namespace {

constexpr std::size_t line_cells = 64 / sizeof(double);

}  // namespace

GridRows::GridRows(const DataSet& data, RowRange rows)
    : columns_(data.size()),
      rows_(rows),
      lines_(1 + (half_size() + line_cells - 2) / line_cells),
      cells_(rows.size() * 2 * lines_) {
  std::vector<double> cells(columns_);
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    data.fill_row(row, cells);
    put_row(row, cells);
  }
}

std::span<const double> GridRows::half(std::size_t row, Colour colour) const {
  ENSURE(rows_.contains(row));
  const std::size_t line = ((row - rows_.begin) * 2 + (colour == Colour::red ? 0 : 1)) * lines_;
  // Cells of the grid's left edge are not relaxed. If the half row begins with an edge cell, this
  // cell is stored at the end of a cache line. The first cell to relax is then at the start of the
  // next cache line.
  const bool has_edge = first_column(row, colour) == 0;
  return {cells_[line].cells + (has_edge ? line_cells - 1 : 0), half_size()};
}

std::span<double> GridRows::half(std::size_t row, Colour colour) {
  const auto cells = std::as_const(*this).half(row, colour);
  return {const_cast<double*>(cells.data()), cells.size()};
}

void GridRows::put_row(std::size_t row, std::span<const double> cells) {
  for (const Colour colour : {Colour::red, Colour::black}) {
    const auto points = half(row, colour);
    for (std::size_t k = 0, column = first_column(row, colour); column < columns_; column += 2)
      points[k++] = cells[column];
  }
}

void GridRows::get_row(std::size_t row, std::span<double> cells) const {
  for (const Colour colour : {Colour::red, Colour::black}) {
    const auto points = half(row, colour);
    for (std::size_t k = 0, column = first_column(row, colour); column < columns_; column += 2)
      cells[column] = points[k++];
  }
}

HalfRow GridRows::points(std::size_t row, Colour colour) {
  const std::size_t column = first_column(row, colour);
  const Colour around = other(colour);
  // Cell k of this half row is in column 2k + `column`. The cells above and below it are in the
  // same column, so each is cell k of its own half row. Column 0 and the last column are fixed. The
  // first cell to relax is therefore in column 1 or 2, and is cell `first` of this half row. Its
  // left neighbour is cell 0 of the other colour in the same row.
  const std::size_t first = 1 - column;
  return {half(row, colour).data() + first, half(row - 1, around).data() + first,
          half(row + 1, around).data() + first, half(row, around).data(),
          (columns_ - column) / 2 - first};
}

double GridRows::update(std::size_t row, Colour colour, double omega) {
  return relax(points(row, colour), omega);
}

Changes GridRows::update_both(std::size_t row, double omega) {
  return relax_both(points(row, Colour::red), points(row - 1, Colour::black), omega);
}

std::vector<RowRange> row_blocks(std::size_t size, std::size_t blocks) {
  const std::size_t inner = size - 2;
  if (blocks == 0 || blocks > inner)
    throw std::invalid_argument(
        fmt::format("--size: expected at least {} for {} threads to have a row each, found {}",
                    blocks + 2, blocks, size));
  std::vector<RowRange> all;
  std::size_t row = 1;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t rows = inner / blocks + (i < inner % blocks ? 1 : 0);
    all.push_back({row, row + rows});
    row += rows;
  }
  return all;
}

}  // namespace bench
