// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3_plus.hpp — Min³ with what it leaves unused, in several ways.
#pragma once
#include "collectives/planner/contender.hpp"
#include "collectives/planner/min3.hpp"

namespace planning {

/// What Min³+ adds to Min³, for one choice of pools, segments and messages at once: ports for other
/// clusters besides those for a host's own, so that what has come is passed on while more comes;
/// several messages from other clusters at once; the slots of paths; transfers in the order of
/// their predicted starts. Of blocks of unlike lengths the largest is in so many segments.
Plan min3_plus_plan(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
                    Bytes element_bytes, std::size_t segments, std::size_t at_once);

/// As such a plan is meant: ports as it has them, the oldest message that can move first.
pricing::Execution min3_plus_execution(std::size_t at_once, Nanos overhead);

/// What is tried.
struct Min3PlusLimits {
  std::string pools = "any";             ///< or "declared", "bandwidth"
  std::size_t segments = 0;              ///< of the largest block; 0: 1 to 8
  std::size_t at_once = 0;               ///< messages from other clusters; 0: 1 to 8
  std::size_t transfers_most = 1 << 14;  ///< more segments are not tried, unless they are asked for
};

/// Pools declared and by bandwidth, blocks whole and in segments, one message from other clusters
/// at once and several. Which is best only compare() can tell, best beside rivals_of(); it is so by
/// the network that it is given, and what that says wrongly costs part of the gain. Throws:
/// std::invalid_argument if the blocks are not those of the network's participants.
std::vector<Contender> min3_plus(const pricing::Network& network, const collectives::Counts& counts,
                                 Bytes element_bytes, Nanos overhead,
                                 const Min3PlusLimits& limits = {});

}  // namespace planning
