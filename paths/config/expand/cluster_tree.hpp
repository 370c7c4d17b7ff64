// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/cluster_tree.hpp — which hosts of a cluster combine what others send.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "paths/config/multi_cluster.hpp"

namespace paths::expansion {

/// Who combines with whom inside a cluster: hosts in order, each with those that send to it.
struct ClusterTree {
  std::vector<std::uint32_t> hosts;  ///< with threads, in the config's order
  std::uint32_t root = 0;

  std::uint32_t parent_of(std::uint32_t host) const { return nodes[host - hosts.front()].parent; }
  bool has_children(std::uint32_t host) const { return nodes[host - hosts.front()].has_children; }
  /// Which contributor of the root's join of hosts the root itself is: slots are counted in the
  /// order in which paths come, those of hosts below other hosts included.
  std::uint32_t root_slot() const;

  struct Node {
    std::uint32_t parent = 0;  ///< the root is its own
    bool has_children = false;
  };
  std::vector<Node> nodes;  ///< from the first host to the last one, with those between them
};

/// The hosts of a cluster that has threads as a tree: all below the root, or with a fan-out k,
/// hosts in order, the root first, the one at place i below the one at place (i - 1) / k.
ClusterTree cluster_tree(const MultiCluster& all, const MultiCluster::Collective& collective,
                         std::uint32_t cluster);

}  // namespace paths::expansion
