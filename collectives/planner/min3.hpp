// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3.hpp — Min³, the greedy allgather of Gupta and Vadhiyar 2007.
#pragma once
#include "collectives/planner/pool_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

/// Plans an allgather with Min³. The hosts form a pool, which is divided into parts
/// (pool_tree.hpp). Min³ transfers every piece once into each part, then repeats this within each
/// part. It always plans the transfer with the earliest end next. Candidates are all pieces, all
/// parts that lack the piece, all hosts of the part, and all senders that have the piece. Ties go
/// to the first piece, then to the first part, then to the sender that got the piece first, then
/// to the lowest rank of a receiver.
///
/// The ports of a host stay occupied across levels of the pool tree. Transfers within a part
/// therefore begin after the transfers between parts that use the same ports. The pieces may be
/// segments of blocks.
/// Cost: At most 5 ms for 20 hosts and 500 ms for 80 hosts (`collectives_tests "[.times]"`). The
///       predicted end of a transfer never decreases. Outdated entries of the heap are therefore
///       too early, never too late. If the first entry is up to date, it is the earliest end of
///       all.
/// Throws: std::invalid_argument if the pools and the network differ in the number of hosts.
Plan min3(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
          std::vector<Piece> pieces, const PortModel& model = {});

}  // namespace planning
