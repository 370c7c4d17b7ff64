// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3_plus.hpp — Min³+, an extension of Min³ that uses the network better.
#pragma once
#include "collectives/planner/contender.hpp"
#include "collectives/planner/min3.hpp"

namespace planning {

/// Plans an allgather with Min³+ for one choice of pools, segments and concurrent messages.
/// `segments` is the number of segments of the largest block; smaller blocks have fewer. Min³+
/// extends Min³ by:
/// - separate ports for messages between clusters and inside a cluster, so that a host can forward
///   data inside its cluster while it receives more data from other clusters;
/// - several concurrent messages from other clusters to one host;
/// - a limit on the messages that a link carries at the same time (its slots);
/// - transfers in the order of their predicted starts.
Plan min3_plus_plan(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
                    Bytes element_bytes, std::size_t segments, std::size_t at_once);

/// Returns the execution for which min3_plus_plan() makes its plans. Each host has separate ports
/// for messages between clusters and inside a cluster. A free port goes to the oldest step whose
/// message can be transferred.
pricing::Execution min3_plus_execution(std::size_t at_once, Nanos overhead);

/// Values of parameters for which min3_plus() makes plans.
struct Min3PlusLimits {
  std::string pools = "any";  ///< pools to try: "any" (both), "declared" or "bandwidth"
  std::size_t segments = 0;   ///< segments of the largest block; 0 = tries 1, 2, 4 and 8
  std::size_t at_once = 0;    ///< concurrent messages from other clusters; 0 = tries 1, 4, 8
};

/// Returns plans for declared pools and for pools by bandwidth, with whole blocks and with
/// segments, and with one or several simultaneous messages from other clusters. The caller should
/// compare() them, together with the contenders of rivals_of(). The plan with the least predicted
/// time is the fastest plan only if the description of the network is right.
/// Throws: std::invalid_argument if `counts` does not have one block for each participant of the
///         network.
std::vector<Contender> min3_plus(const pricing::Network& network, const collectives::Counts& counts,
                                 Bytes element_bytes, Nanos overhead,
                                 const Min3PlusLimits& limits = {});

}  // namespace planning
