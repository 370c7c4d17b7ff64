// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/cluster_tree.hpp — tree in which the hosts of a cluster combine values.
#pragma once
#include <cstdint>
#include <vector>

#include "paths/config/multi_cluster.hpp"

namespace paths::expansion {

/// Tree of the hosts inside a cluster: each host combines the values of its children.
struct ClusterTree {
  std::vector<std::uint32_t> hosts;  ///< hosts with threads, in the config's order
  std::uint32_t root = 0;

  std::uint32_t parent_of(std::uint32_t host) const { return nodes[host - hosts.front()].parent; }
  bool has_children(std::uint32_t host) const { return nodes[host - hosts.front()].has_children; }
  /// Returns the slot of the root's own threads in the join at the root. Slots follow the order of
  /// the hosts. Each child of the root has one slot, for the child and all hosts below the child.
  std::uint32_t root_slot() const;

  struct Node {
    std::uint32_t parent = 0;  ///< index of the parent host; the root is its own parent
    bool has_children = false;
  };
  std::vector<Node> nodes;  ///< nodes of the hosts, indexed by host minus hosts.front()
};

/// Returns the tree of a cluster that has threads. Without a fan-out all hosts are children of the
/// root. With a fan-out of k, each host has at most k children. The hosts are numbered from 0 with
/// the root first, and the parent of host i is host (i-1)/k, rounded down.
ClusterTree cluster_tree(const MultiCluster& all, const MultiCluster::Collective& collective,
                         std::uint32_t cluster);

}  // namespace paths::expansion
