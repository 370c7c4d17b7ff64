// SPDX-License-Identifier: Apache-2.0
// bench/sor/data_set.cpp — cells of the three data sets
#include "bench/sor/data_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/near_match.hpp"
#include "runtime/random.hpp"

namespace bench {
namespace {

constexpr double sun = 27760, absolute_zero = -273.15;
constexpr double random_below = 10'000;
constexpr std::size_t diagonals_aside = 3, size_max = 1'000'000;

}  // namespace

const std::vector<std::string_view>& DataSet::names() {
  static const std::vector<std::string_view> all = {"frosty", "tridiagonal", "random"};
  return all;
}

DataSet::DataSet(const std::string& name, std::size_t size, std::uint64_t seed)
    : size_(size), seed_(seed) {
  const auto found = std::find(names().begin(), names().end(), name);
  if (found == names().end())
    throw std::invalid_argument(
        fmt::format("--data: expected {}, found '{}'", base::either_of(names()), name));
  if (size < 3)
    throw std::invalid_argument(
        fmt::format("--size: expected 3 or more, for there to be an inside, found {}", size));
  if (size > size_max)
    throw std::invalid_argument(
        fmt::format("--size: expected at most {}, found {}", size_max, size));
  kind_ = static_cast<Kind>(found - names().begin());
}

void DataSet::fill_row(std::size_t row, std::span<double> cells) const {
  if (kind_ == Kind::frosty)
    return std::fill(cells.begin(), cells.end(), row == 0 ? sun : absolute_zero);
  runtime::Random random(seed_, row);
  std::size_t begin = 0, end = cells.size();
  if (kind_ == Kind::tridiagonal) {
    std::fill(cells.begin(), cells.end(), 0.0);
    begin = row - std::min(row, diagonals_aside);
    end = std::min(end, row + diagonals_aside + 1);
  }
  for (std::size_t column = begin; column < end; ++column)
    cells[column] = random_below * random.unit();
}

double DataSet::epsilon() const {
  return 1e-8 * static_cast<double>(size_) * static_cast<double>(size_);
}

double DataSet::best_omega() const {
  return 2 / (1 + std::sin(std::numbers::pi / static_cast<double>(size_)));
}

double DataSet::omega(std::optional<double> given) const {
  const double omega = given.value_or(best_omega());
  if (omega > 0 && omega < 2) return omega;
  throw std::invalid_argument(fmt::format(
      "--omega: expected more than 0 and less than 2, else nothing converges, found {}", omega));
}

}  // namespace bench
