// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/cluster_tree.cpp — construction of the tree of a cluster's hosts.
#include "paths/config/expand/cluster_tree.hpp"

#include <algorithm>
#include <set>

namespace paths::expansion {

ClusterTree cluster_tree(const MultiCluster& all, const MultiCluster::Collective& collective,
                         std::uint32_t cluster) {
  ClusterTree tree;
  tree.hosts = all.computing(cluster);
  tree.root = cluster == collective.root_cluster ? collective.root_host : tree.hosts.front();
  std::vector<std::uint32_t> order = tree.hosts;
  const auto root = std::find(order.begin(), order.end(), tree.root);
  std::rotate(order.begin(), root, root + 1);
  const std::uint32_t first = tree.hosts.front();
  tree.nodes.resize(tree.hosts.back() - first + 1);
  tree.nodes[tree.root - first].parent = tree.root;
  for (std::size_t place = 1; place < order.size(); ++place) {
    const std::size_t above = collective.fan_out == 0 ? 0 : (place - 1) / collective.fan_out;
    tree.nodes[order[place] - first].parent = order[above];
    tree.nodes[order[above] - first].has_children = true;
  }
  return tree;
}

std::uint32_t ClusterTree::root_slot() const {
  std::set<std::uint32_t> before;
  for (std::uint32_t host : hosts) {
    if (host == root) break;
    while (parent_of(host) != root) host = parent_of(host);
    before.insert(host);
  }
  return static_cast<std::uint32_t>(before.size());
}

}  // namespace paths::expansion
