// SPDX-License-Identifier: Apache-2.0
// bench/sor/data_set.hpp — the grids that a solver starts from, row by row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A square grid of numbers before the first iteration. Its outermost rows and columns are fixed.
///
/// frosty:      a plate whose top row is kept at 27760 degrees Celsius, all else is -273.15.
/// tridiagonal: the main diagonal and the three on each side of it are random, all else is zero.
/// random:      everything is random.
///
/// Random is even over [0, 10000): runtime::Random(seed, row) draws a row's numbers by column, so
/// that any host can make any row. (The names and numbers are those of Bongo et al. 2004, §V-B,
/// which leaves the generator open.)
class DataSet {
 public:
  static const std::vector<std::string_view>& names();
  /// Throws std::invalid_argument for another name, and for a size below 3, which has no inside, or
  /// above a million, which no memory holds.
  DataSet(const std::string& name, std::size_t size, std::uint64_t seed);

  std::size_t size() const { return size_; }  ///< rows, and columns
  /// `cells` holds a whole row.
  void fill_row(std::size_t row, std::span<double> cells) const;
  /// Below which sum of absolute changes the paper's solver stops: 1e-8 for each cell.
  double epsilon() const;
  /// The relaxation factor that converges fastest for Poisson's equation on a square of this size.
  double best_omega() const;
  /// The given one, else the best. Throws std::invalid_argument for one that never converges.
  double omega(std::optional<double> given) const;

 private:
  enum class Kind : std::uint8_t { frosty, tridiagonal, random };
  Kind kind_ = Kind::frosty;
  std::size_t size_;
  std::uint64_t seed_;
};

}  // namespace bench
