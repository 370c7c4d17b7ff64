// SPDX-License-Identifier: Apache-2.0
// bench/sor/halo.hpp — number of border rows to send between clusters so that latency is hidden
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "bench/sor/neighbour.hpp"
#include "paths/plan/plan.hpp"

namespace bench {

/// A border between two threads of different clusters, and the cost of an exchange over it.
struct FarBorder {
  /// Rank of the thread above the border; the thread below it has the next rank.
  std::uint32_t above = 0;
  /// One-way latency of the slower direction. If the link is recorded, it is a value that the
  /// latency rarely exceeds.
  base::Nanos latency{0};
  base::Nanos row_passage{0};  ///< time to transfer one row over the links of the slower direction
  std::size_t rows = 0;        ///< number of rows of the larger of the two blocks
  /// Greatest latency, in iterations, that can be hidden with the rows of the smaller of the
  /// two blocks.
  std::uint64_t latency_max = 0;

  /// Durations of an iteration. `of_all` is the duration on the slowest thread of the run.
  /// `of_border` is the duration on the slower thread at this border, without the time for
  /// redundant rows of the neighbour.
  struct Pace {
    base::Nanos of_all{0}, of_border{0};
  };
  /// Returns whether border rows arrive within `depth.latency` iterations. The calculation includes
  /// the time to relax redundant rows and the time to transfer all rows of a message.
  bool hides(HaloDepth depth, Pace pace) const;
  /// Returns the smallest depth that hides the latency, plus one iteration of reserve. The
  /// available rows limit the depth. The period of the depth equals its latency, because this
  /// minimizes the redundant rows.
  HaloDepth hiding(Pace pace) const;
};

/// Value of the option --halo.
struct HaloChoice {
  enum class Kind : std::uint8_t { plain, hidden, given };
  Kind kind = Kind::plain;
  std::uint64_t iterations = 0;  ///< depth in iterations, if `kind` is given
  /// Parses the value of the option. Throws std::invalid_argument if the text is invalid.
  static HaloChoice parse(const std::string& text);
  std::string text() const;
};

/// Returns the borders between threads of different clusters, in the order of ranks. Throws
/// std::invalid_argument if the plan has no such exchange.
std::vector<FarBorder> far_borders(const paths::Plan& plan, const std::string& exchange,
                                   const std::vector<RowRange>& blocks, std::size_t size);
/// Throws std::invalid_argument if the block at one of the borders has fewer rows than the option
/// --halo needs.
void check_halo(const HaloChoice& choice, const std::vector<FarBorder>& borders);

/// Returns the name of the element in which the thread `rank` receives rows from the thread before
/// it.
std::string inbox_from_previous(const std::string& exchange, std::uint32_t rank);
std::string inbox_from_next(const std::string& exchange, std::uint32_t rank);

}  // namespace bench
