// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3.hpp — Min³, the greedy allgather of Gupta and Vadhiyar 2007.
#pragma once
#include "collectives/planner/pool_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

/// Plans an allgather with Min³: it brings every piece once into each part of a pool, then repeats
/// this within each part. The next planned transfer is always the one that ends first. The minimum
/// is over senders that have the piece and hosts of the part, over parts, and over pieces. Ties go
/// to the first piece, then part, then sender in the order of getting the piece, then receiver by
/// rank.
///
/// Ports keep their state from level to level, so that transfers within a part follow the last
/// transfer between parts. The pieces may be segments of blocks.
/// Cost: At most 5 ms for 20 hosts and 500 ms for 80 hosts (`collectives_tests "[.times]"`). Ends
///       only grow, so that the least outdated end that is still correct is the minimum.
/// Throws: std::invalid_argument if the pools and the network differ in the number of hosts.
Plan min3(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
          std::vector<Piece> pieces, const PortModel& model = {});

}  // namespace planning
