// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/all_to_all.cpp — trees of clusters, and transfers between their roots.
#include <fmt/format.h>

#include <utility>

#include "paths/config/expand/collective.hpp"
#include "paths/joins/cluster_tuples.hpp"

namespace paths::expansion {

std::string CollectiveExpansion::between(std::string_view kind, std::uint32_t here,
                                         std::uint32_t other) const {
  return name(fmt::format("{}.{}.{}", kind, all_.cluster_name(here), all_.cluster_name(other)));
}

/// Returns whether each cluster has links to and from each other cluster. The caller checks this
/// before it expands many clusters, because the expansion is much larger than the config.
bool CollectiveExpansion::has_all_links() {
  bool has_all = true;
  for (const std::uint32_t into : clusters_)
    for (const std::uint32_t from : clusters_)
      if (into < from) has_all = routes_.has_links(into, from, collective_.name) && has_all;
  return has_all;
}

void CollectiveExpansion::write_newest() {
  if (!is_among_clusters()) return write_tree();
  write_all_to_all({.settings = decides(), .tuple = partial_template(collective_.value)});
}

void CollectiveExpansion::write_all_to_all(const Telling& telling) {
  if (!has_all_links()) return;
  skips_ = telling.skips;
  const TransferWord& transfer = *collective_.algorithm.transfer;
  for (const std::uint32_t cluster : clusters_) {
    const std::uint32_t root = root_of(cluster);
    const std::string result = name("result." + all_.cluster_name(cluster));
    writer_.element(result, root, telling.tuple, telling.kept, position_);
    Way combine, asks;
    for (const std::uint32_t other : clusters_) {
      const std::string cache = between("cache", cluster, other);
      combine.push_back(text(other == cluster ? result : cache));
      if (other == cluster) continue;
      writer_.element(cache, root, telling.tuple, telling.skips ? 1 : 0, position_);
      if (transfer.asks) asks.push_back(text(between("asks", cluster, other)));
    }
    write_cluster(cluster, {check(telling, result, combine, asks), store(result, position_)});
  }
  for (const std::uint32_t into : clusters_)
    for (const std::uint32_t from : clusters_)
      if (into != from) transfer.expand(*this, into, from);
}

void CollectiveExpansion::write_prefetch(std::uint32_t into, std::uint32_t from) {
  const std::uint32_t here = root_of(into);
  Way way = {in_place("prefetch", {entry("into", text(between("cache", into, from)))})};
  routes_.route(way, here, root_of(from), collective_.name);
  const std::string result = name("result." + all_.cluster_name(from));
  way.push_back(in_place("observe", {entry("element", text(result))}));
  add_path(here, 0, std::move(way));
}

void CollectiveExpansion::write_push(std::uint32_t into, std::uint32_t from) {
  const std::uint32_t there = root_of(from);
  Entries settings = {entry("from", text(name("result." + all_.cluster_name(from))))};
  if (!skips_) settings.push_back(entry("every", text("true")));
  if (collective_.algorithm.transfer->asks)
    settings.push_back(entry("asks", text(between("asked", from, into))));
  Way way = {in_place("push", std::move(settings))};
  routes_.route(way, there, root_of(into), collective_.name);
  way.push_back(marked_store(between("cache", into, from), "true", position_));
  add_path(there, 0, std::move(way));
}

/// Writes the elements and the path by which the cluster `into` requests tuples of the cluster
/// `from`. Each of the two clusters gets an element for the requests, and the path leads from one
/// element to the other.
void CollectiveExpansion::write_asks(std::uint32_t into, std::uint32_t from) {
  const std::uint32_t here = root_of(into);
  const std::uint32_t there = root_of(from);
  const std::string asks = between("asks", into, from);
  const std::string asked = between("asked", from, into);
  writer_.element(asks, here, ask_template(), 1, position_);
  writer_.element(asked, there, ask_template(), 1, position_);
  Way way = {in_place("push", {entry("from", text(asks))})};
  routes_.route(way, here, there, collective_.name);
  // Only a failure puts an error mark into the element. The regular end of a cluster does not: the
  // cluster then sends no more requests, and no other cluster waits for one.
  way.push_back(marked_store(asked, "failures", position_));
  add_path(here, 0, std::move(way));
}

}  // namespace paths::expansion
