// SPDX-License-Identifier: Apache-2.0
// collectives/planner/broadcast_tree.hpp — trees in which one block is sent to all hosts of a
// network.
#pragma once
#include <vector>

#include "collectives/planner/pair_costs.hpp"

namespace planning {

/// A tree of hosts, rooted at the owner of a block. Each host sends the block to its children in
/// order.
struct BroadcastTree {
  Rank root = 0;
  std::vector<std::vector<Rank>> children;  ///< children of each host, in the order of sending
};

/// Builds a shortest-path tree. The length of a path is the time at which the block arrives. A
/// sender sends one message at a time. In each step, the function adds the host to which the block
/// can arrive earliest. It ignores clusters, so a block may enter a cluster several times.
/// Paper: Mateescu 2005 (rebuilt from its abstract).
BroadcastTree mateescu_tree(const PairCosts& costs, Rank root, Bytes bytes);

/// Builds a tree by simulated annealing. Each cluster has an entry host, which gets the block
/// first. The entry host sends the block to other clusters, then to the hosts of its own cluster.
/// The search varies the entry host of each cluster, and the cluster from which that host gets the
/// block. Inside a cluster, hosts are added as in mateescu_tree(). In the initial tree, the first
/// host of each cluster gets the block from the root. A new tree replaces the best tree so far only
/// if the last host of the new tree gets the block strictly earlier. The blocks of different roots
/// therefore often enter a cluster through the same host. The random numbers are a fixed sequence,
/// so every machine builds the same tree.
/// Paper: Gupta and Vadhiyar 2006 (ClusteredSA), rebuilt from its name and from two lines about it
///        in Gupta and Vadhiyar 2007.
BroadcastTree clustered_tree(const PairCosts& costs, Rank root, Bytes bytes);

}  // namespace planning
