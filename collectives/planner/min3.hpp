// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3.hpp — Min³, the greedy allgather of Gupta and Vadhiyar 2007.
#pragma once
#include "collectives/planner/pool_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

/// Plans an allgather with Min³. The hosts form a pool, which is divided into parts
/// (pool_tree.hpp). Min³ first transfers every piece once into each part. Then it distributes the
/// pieces within each part in the same way. In each step it plans the transfer that ends earliest.
/// It considers each piece and each part that lacks the piece. All hosts that have the piece are
/// possible senders, and all hosts of the part are possible receivers. If several transfers end at
/// the same time, Min³ prefers the first piece, then the first part. After that it prefers the
/// sender that got the piece first, then the receiver with the lowest rank.
///
/// Transfers between parts and transfers within a part use the same ports. A transfer within a part
/// therefore begins only when the transfers between parts have freed its ports. A piece is a block
/// or a segment of it.
/// Cost: At most 5 ms for 20 hosts and 500 ms for 80 hosts (`collectives_tests "[.times]"`). To
///       save time, the predicted ends of possible transfers are kept in a heap and not recomputed.
///       The true end of a transfer is never earlier than the end in the heap. If the end on top of
///       the heap is still true, no other transfer ends earlier.
/// Throws: std::invalid_argument if the pools and the network differ in the number of hosts.
Plan min3(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
          std::vector<Piece> pieces, const PortModel& model = {});

}  // namespace planning
