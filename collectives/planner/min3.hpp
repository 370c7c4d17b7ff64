// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3.hpp — the allgather of Gupta and Vadhiyar 2007: pools, then always the
// next end.
#pragma once
#include "collectives/planner/pool_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

/// Min³: brings every piece into each part of a pool once, then does the same in each part. Always
/// the transfer that ends first is planned next: least over senders that have the piece and hosts
/// of the part, over parts, over pieces. Of several that end at once the one of the first piece,
/// then part, then sender in the order in which they got it, then receiver by rank.
///
/// Ports stay as they are left from level to level, so that what is planned for a part comes behind
/// the last transfer between parts. Segments of a block are pieces, and known to the greedy.
/// Cost:    20 hosts take at most 5 ms, 80 hosts 500 ms (`collectives_tests "[.times]"`). Ends only
///          grow, so the least of outdated ones that is right is the least of all.
/// Throws:  std::invalid_argument if the pools are not those of all hosts.
Plan min3(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
          std::vector<Piece> pieces, const PortModel& model = {});

}  // namespace planning
