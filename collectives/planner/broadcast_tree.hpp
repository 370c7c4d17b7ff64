// SPDX-License-Identifier: Apache-2.0
// collectives/planner/broadcast_tree.hpp — trees for one block, by rules that know the network.
#pragma once
#include <span>
#include <vector>

#include "collectives/planner/pair_costs.hpp"

namespace planning {

/// Who sends a block on to whom, in that order.
struct BroadcastTree {
  Rank root = 0;
  std::vector<std::vector<Rank>> children;  ///< by host
};

/// Mateescu 2005, as its abstract has it: the tree of shortest ways, where a sender is busy with a
/// message before it can send the next. Hosts join in the order in which they can have the block.
/// Knows no clusters, so a block may cross to a site often.
BroadcastTree mateescu_tree(const PairCosts& costs, Rank root, Bytes bytes);

/// Gupta and Vadhiyar 2006 (ClusteredSA), rebuilt from its name and two lines in their paper of
/// 2007: simulated annealing over who of each cluster gets the block first, and from which cluster.
/// That host sends to other clusters first; inside, hosts join as in mateescu_tree(). It begins
/// with first hosts, who get it from the root, and takes nothing that is not better, so that blocks
/// of several roots often come in by one host.
/// Chance is a fixed sequence: the same tree on every machine.
BroadcastTree clustered_tree(const PairCosts& costs, Rank root, Bytes bytes);

}  // namespace planning
