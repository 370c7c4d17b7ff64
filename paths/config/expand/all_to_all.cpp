// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/all_to_all.cpp — a tree in each cluster, and exchange of values between the
// roots.
#include <fmt/format.h>

#include <utility>

#include "paths/config/expand/cluster_transfers.hpp"
#include "paths/config/expand/collective.hpp"
#include "paths/joins/cluster_tuples.hpp"

namespace paths::expansion {
namespace {

/// Returns whether each cluster has links to and from each other cluster. The caller checks this
/// before it expands many clusters, because the expansion is much larger than the config.
bool have_all_links(Routes& routes, const std::vector<std::uint32_t>& clusters,
                    const base::Settings& asker) {
  bool has_all = true;
  for (const std::uint32_t into : clusters)
    for (const std::uint32_t from : clusters)
      if (into < from) has_all = routes.has_links(into, from, asker) && has_all;
  return has_all;
}

}  // namespace

void CollectiveExpansion::write_newest() {
  if (!is_among_clusters()) return write_tree();
  write_all_to_all({.settings = decides(), .tuple = partial_template(collective_.value)});
}

void CollectiveExpansion::write_all_to_all(const Telling& telling) {
  if (!have_all_links(routes_, clusters_, collective_.name)) return;
  ClusterTransfers transfers(all_, collective_, telling.skips, writer_, routes_);
  const TransferWord& transfer = *collective_.algorithm.transfer;
  for (const std::uint32_t cluster : clusters_) {
    const std::uint32_t root = root_of(all_, collective_, cluster);
    const std::string result = name_in(collective_, "result." + all_.cluster_name(cluster));
    writer_.element(result, root, telling.tuple, telling.kept, position_);
    Way combine, asks;
    for (const std::uint32_t other : clusters_) {
      const std::string cache = transfers.cache_of(cluster, other);
      combine.push_back(text(other == cluster ? result : cache));
      if (other == cluster) continue;
      writer_.element(cache, root, telling.tuple, telling.skips ? 1 : 0, position_);
      if (transfer.asks) asks.push_back(text(transfers.asks_of(cluster, other)));
    }
    write_cluster(cluster, {check(telling, result, combine, asks), store(result, position_)});
  }
  for (const std::uint32_t into : clusters_)
    for (const std::uint32_t from : clusters_)
      if (into != from) transfer.expand(transfers, into, from);
}

}  // namespace paths::expansion
