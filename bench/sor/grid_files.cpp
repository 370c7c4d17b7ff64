// SPDX-License-Identifier: Apache-2.0
// bench/sor/grid_files.cpp — files of numbers, pixels and contributions
#include "bench/sor/grid_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "base/output_file.hpp"

namespace bench {
namespace {

void write(const std::string& file, const std::function<void(base::OutputFile&)>& work) {
  base::OutputFile out(file);
  work(out);
  out.finish();
}

void for_rows(std::size_t size, const FillRow& fill,
              const std::function<void(std::span<const double>)>& use) {
  std::vector<double> cells(size);
  for (std::size_t row = 0; row < size; ++row) {
    fill(row, cells);
    use(cells);
  }
}

/// Returns the colour for a `heat` from 0 to 1. As the heat rises, red rises first, then green,
/// then blue.
std::array<char, 3> pixel(double heat) {
  std::array<char, 3> colours{};
  for (int i = 0; i < 3; ++i) {
    const double part = std::clamp(3 * heat - i, 0.0, 1.0);
    colours[static_cast<std::size_t>(i)] = static_cast<char>(std::lround(255 * part));
  }
  return colours;
}

}  // namespace

void write_raw(const std::string& file, std::size_t size, const FillRow& fill) {
  write(file, [&](base::OutputFile& out) {
    for_rows(size, fill, [&](std::span<const double> cells) {
      const auto bytes = std::as_bytes(cells);
      out.append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    });
  });
}

void write_image(const std::string& file, std::size_t size, const FillRow& fill) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for_rows(size, fill, [&](std::span<const double> cells) {
    const auto [low, high] = std::minmax_element(cells.begin(), cells.end());
    least = std::min(least, *low);
    most = std::max(most, *high);
  });
  const double range = most > least ? most - least : 1;
  write(file, [&](base::OutputFile& out) {
    out.append(fmt::format("P6\n{} {}\n255\n", size, size));
    std::string row;
    for_rows(size, fill, [&](std::span<const double> cells) {
      row.clear();
      for (const double cell : cells) {
        const auto colours = pixel((cell - least) / range);
        row.append(colours.data(), colours.size());
      }
      out.append(row);
    });
  });
}

void write_values(const std::string& file, const std::string& comment,
                  const std::vector<std::span<const double>>& by_rank) {
  constexpr std::size_t number_bytes_max = 32;
  write(file, [&](base::OutputFile& out) {
    out.append("# " + comment + '\n');
    std::vector<char> line(by_rank.size() * number_bytes_max);
    for (std::size_t row = 0; row < by_rank.front().size(); ++row) {
      char* end = line.data();
      for (const auto& values : by_rank) {
        end = std::to_chars(end, end + number_bytes_max, values[row]).ptr;
        *end++ = ' ';
      }
      end[-1] = '\n';
      out.append({line.data(), static_cast<std::size_t>(end - line.data())});
    }
  });
}

base::Digest grid_digest(std::span<const base::Digest> rows) {
  return base::digest_of(std::as_bytes(rows));
}

base::Digest grid_digest(std::size_t size, const FillRow& fill) {
  std::vector<base::Digest> rows;
  for_rows(size, fill, [&](std::span<const double> cells) {
    rows.push_back(base::digest_of(std::as_bytes(cells)));
  });
  return grid_digest(rows);
}

}  // namespace bench
