// SPDX-License-Identifier: Apache-2.0
// bench/sor/halo.hpp — how far neighbours of different clusters are kept up with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "bench/sor/neighbour.hpp"
#include "paths/plan/plan.hpp"

namespace bench {

/// Between which two threads an exchange crosses clusters, and what that takes.
struct FarBorder {
  std::uint32_t above = 0;        ///< rank; the other one is the next
  base::Nanos latency{0};         ///< one-way, of the slower direction; of a trace, rarely exceeded
  base::Nanos row_passage{0};     ///< of one row's cells through the links of the slower one
  std::size_t rows = 0;           ///< of the larger block
  std::uint64_t latency_max = 0;  ///< how many iterations of halo the smaller block has rows for

  /// What an iteration takes: of the slowest thread of all, and of the slower one at this border,
  /// without what it does for its neighbour.
  struct Pace {
    base::Nanos of_all{0}, of_border{0};
  };
  /// Does a state arrive while that many iterations pass? Redundant rows take time, too, and each
  /// of a state's rows its passage.
  bool hides(HaloDepth depth, Pace pace) const;
  /// The fewest iterations that hide the latency, and one more against what varies; no more than
  /// there are rows for. Period and latency are alike: with that, redundant rows are the fewest.
  HaloDepth hiding(Pace pace) const;
};

/// What --halo says.
struct HaloChoice {
  enum class Kind : std::uint8_t { plain, hidden, given };
  Kind kind = Kind::plain;
  std::uint64_t iterations = 0;  ///< given
  /// Throws std::invalid_argument.
  static HaloChoice parse(const std::string& text);
  std::string text() const;
};

/// The borders of an exchange that lie between clusters, by rank. Throws std::invalid_argument for
/// a plan without such an exchange.
std::vector<FarBorder> far_borders(const paths::Plan& plan, const std::string& exchange,
                                   const std::vector<RowRange>& blocks, std::size_t size);
/// Throws std::invalid_argument when a border has too few rows for what was chosen.
void check_halo(const HaloChoice& choice, const std::vector<FarBorder>& borders);

/// The names of an exchange's elements.
std::string inbox_from_previous(const std::string& exchange, std::uint32_t rank);
std::string inbox_from_next(const std::string& exchange, std::uint32_t rank);

}  // namespace bench
