// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/cluster_tree.hpp — which hosts of a cluster combine what others send.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "paths/config/multi_cluster.hpp"

namespace paths::expansion {

/// Who combines with whom inside a cluster: hosts in order, each with those that send to it.
struct ClusterTree {
  std::vector<std::uint32_t> hosts;  ///< with threads, in the config's order
  std::uint32_t root = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> parent;
  std::unordered_map<std::uint32_t, std::uint32_t> children;  ///< how many

  /// Which contributor of the root's join of hosts the root itself is: slots are counted in the
  /// order in which paths come, those of hosts below other hosts included.
  std::uint32_t root_slot() const;
};

/// The hosts of a cluster that has threads as a tree: all below the root, or with a fan-out k,
/// hosts in order, the root first, the one at place i below the one at place (i - 1) / k.
ClusterTree cluster_tree(const MultiCluster& all, const MultiCluster::Collective& collective,
                         std::uint32_t cluster);

}  // namespace paths::expansion
