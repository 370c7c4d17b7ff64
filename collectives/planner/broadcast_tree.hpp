// SPDX-License-Identifier: Apache-2.0
// collectives/planner/broadcast_tree.hpp — broadcast trees for one block, adapted to the network.
#pragma once
#include <span>
#include <vector>

#include "collectives/planner/pair_costs.hpp"

namespace planning {

/// A broadcast tree; each host sends to its children in order.
struct BroadcastTree {
  Rank root = 0;
  std::vector<std::vector<Rank>> children;  ///< indexed by host
};

/// Builds the tree of shortest ways, where a sender is busy with one message before it sends the
/// next. Hosts join in the order in which they can have the block. The tree ignores clusters, so
/// that a block may enter a site several times.
/// Paper: Mateescu 2005 (from its abstract).
BroadcastTree mateescu_tree(const PairCosts& costs, Rank root, Bytes bytes);

/// Builds a tree by simulated annealing. The search varies the host of each cluster that gets the
/// block first, and the cluster that sends it. This host sends to other clusters first; inside a
/// cluster, hosts join as in mateescu_tree(). The search begins with the first host of each
/// cluster, which gets the block from the root. Only a strictly better tree replaces the best one,
/// so that blocks of several roots often enter a cluster through the same host. Random numbers are
/// a fixed sequence, so that every machine builds the same tree.
/// Paper: Gupta and Vadhiyar 2006 (ClusteredSA), rebuilt from its name and two lines of their paper
///        of 2007.
BroadcastTree clustered_tree(const PairCosts& costs, Rank root, Bytes bytes);

}  // namespace planning
