// SPDX-License-Identifier: Apache-2.0
// bench/sor/grid_files.hpp — files of a grid and of the threads' contributions
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "bench/sor/data_set.hpp"

namespace bench {

/// Writes a row of the grid into `cells`.
using FillRow = std::function<void(std::size_t row, std::span<double> cells)>;

/// Writes f64 numbers, little-endian, row after row. The three functions write_...() throw
/// std::runtime_error on failure.
void write_raw(const std::string& file, std::size_t size, const FillRow& fill);
/// Writes a portable pixmap (PPM) with a pixel per cell. Colours run from black for the least cell
/// over red and yellow to white for the greatest.
void write_image(const std::string& file, std::size_t size, const FillRow& fill);
/// Writes a row for each iteration, with a number for each thread, in the format that Values reads.
/// A number is written as the shortest text from which the same bits are read.
void write_values(const std::string& file, const std::string& comment,
                  const std::vector<std::span<const double>>& by_rank);

/// Returns the digest of all row digests, in the order of the rows. It therefore does not depend on
/// how the rows are divided among threads.
base::Digest grid_digest(std::span<const base::Digest> rows);
base::Digest grid_digest(std::size_t size, const FillRow& fill);

}  // namespace bench
