// SPDX-License-Identifier: Apache-2.0
// bench/sor/grid_files.hpp — a grid, and what threads contributed, as files.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "bench/sor/data_set.hpp"

namespace bench {

/// Fills in a row of the grid.
using FillRow = std::function<void(std::size_t row, std::span<double> cells)>;

/// f64 numbers, little-endian, row after row. Throws std::runtime_error when it cannot be written,
/// as all of these do.
void write_raw(const std::string& file, std::size_t size, const FillRow& fill);
/// A portable pixmap (PPM), a pixel for each cell: from black for the least cell over red and
/// yellow to white for the greatest.
void write_image(const std::string& file, std::size_t size, const FillRow& fill);
/// A row for each iteration, a number for each thread: what Values reads. Each is the shortest text
/// that reads back to the same bits.
void write_values(const std::string& file, const std::string& comment,
                  const std::vector<std::span<const double>>& by_rank);

/// Of the digests of all rows in order, so that it does not depend on who has which rows.
base::Digest grid_digest(std::span<const base::Digest> rows);
base::Digest grid_digest(std::size_t size, const FillRow& fill);

}  // namespace bench
