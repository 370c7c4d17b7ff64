// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3.hpp — Min³, the greedy allgather of Gupta and Vadhiyar 2007.
#pragma once
#include "collectives/planner/pool_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

/// Plans an allgather with Min³. The hosts form a pool, which is divided into parts
/// (pool_tree.hpp). Min³ transfers every piece once into each part. Then it does the same within
/// each part. In each step it plans the transfer that ends earliest. It considers all pieces, all
/// parts that lack the piece, all hosts of the part as receivers, and all hosts that have the piece
/// as senders.
/// If several transfers end at the same time, it plans the one with the first piece, then the one
/// with the first part. After that it prefers the sender that got the piece first, then the
/// receiver with the lowest rank.
///
/// Transfers between parts and transfers within a part use the same ports. Transfers within a part
/// therefore begin after the transfers between parts that occupy their ports. A piece is a block or
/// a segment of it.
/// Cost: At most 5 ms for 20 hosts and 500 ms for 80 hosts (`collectives_tests "[.times]"`). To
///       save time, the ends of possible transfers are kept in a heap and not recomputed. The true
///       end of a transfer is never earlier than the end in the heap. If the first entry is up to
///       date, it is therefore the earliest end of all.
/// Throws: std::invalid_argument if the pools and the network differ in the number of hosts.
Plan min3(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
          std::vector<Piece> pieces, const PortModel& model = {});

}  // namespace planning
