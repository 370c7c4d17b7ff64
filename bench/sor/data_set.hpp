// SPDX-License-Identifier: Apache-2.0
// bench/sor/data_set.hpp — initial grids of the solver, row by row
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
/// - frosty: a plate with its top row at 27760 degrees Celsius and all other cells at -273.15.
/// - tridiagonal: random on the main diagonal and on the three diagonals on each side of it, zero
///   elsewhere. The name is that of the paper, although seven diagonals are random.
/// - random: random everywhere.
///
/// Random numbers are uniform in [0, 10000). runtime::Random(seed, row) draws a row's numbers by
/// column, so any host can make any row.
///
/// Paper: Bongo et al. 2004, §V-B, for names and numbers; it does not specify the generator.
class DataSet {
 public:
  static const std::vector<std::string_view>& names();
  /// Throws std::invalid_argument for an unknown name, for a size below 3 (no inner cells), and for
  /// a size above one million (too large for memory).
  DataSet(const std::string& name, std::size_t size, std::uint64_t seed);

  std::size_t size() const { return size_; }  ///< number of rows and of columns
  /// Requires: `cells` holds a whole row.
  void fill_row(std::size_t row, std::span<double> cells) const;
  /// Returns the epsilon, which is 1e-8 times the number of cells. The paper's solver stops if the
  /// sum of absolute changes is below the epsilon.
  double epsilon() const;
  /// Returns the relaxation factor that converges fastest for Poisson's equation on a grid of this
  /// size.
  double best_omega() const;
  /// Returns the given relaxation factor; if none is given, returns the best factor. Throws
  /// std::invalid_argument if the given factor never converges.
  double omega(std::optional<double> given) const;

 private:
  enum class Kind : std::uint8_t { frosty, tridiagonal, random };
  Kind kind_ = Kind::frosty;
  std::size_t size_;
  std::uint64_t seed_;
};

}  // namespace bench
