// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/cluster_transfers.cpp — paths between the roots of two clusters.
#include "paths/config/expand/cluster_transfers.hpp"

#include <fmt/format.h>

#include <utility>

#include "paths/joins/cluster_tuples.hpp"

namespace paths::expansion {

std::string name_in(const MultiCluster::Collective& collective, std::string_view part) {
  std::string name = collective.name.text();
  name += '.';
  return name += part;
}

std::uint32_t root_of(const MultiCluster& all, const MultiCluster::Collective& collective,
                      std::uint32_t cluster) {
  return cluster == collective.root_cluster ? collective.root_host : all.computing(cluster).front();
}

std::string ClusterTransfers::between(std::string_view kind, std::uint32_t here,
                                      std::uint32_t other) const {
  return name_in(collective_,
                 fmt::format("{}.{}.{}", kind, all_.cluster_name(here), all_.cluster_name(other)));
}

void ClusterTransfers::add_path(std::uint32_t host, Way way) {
  writer_.path(collective_.name, {host, 0, 0}, std::move(way), collective_.instrumented);
}

void ClusterTransfers::write_prefetch(std::uint32_t into, std::uint32_t from) {
  const std::uint32_t here = root_of(all_, collective_, into);
  Way way = {
      in_place("prefetch", {entry("into", word(cache_of(into, from), position_))}, position_)};
  routes_.route(way, here, root_of(all_, collective_, from), collective_.name);
  const std::string result = name_in(collective_, "result." + all_.cluster_name(from));
  way.push_back(in_place("observe", {entry("element", word(result, position_))}, position_));
  add_path(here, std::move(way));
}

void ClusterTransfers::write_push(std::uint32_t into, std::uint32_t from) {
  const std::uint32_t there = root_of(all_, collective_, from);
  Entries settings = {
      entry("from", word(name_in(collective_, "result." + all_.cluster_name(from)), position_))};
  if (!skips_) settings.push_back(entry("every", word("true", position_)));
  if (collective_.algorithm.transfer->asks)
    settings.push_back(entry("asks", word(between("asked", from, into), position_)));
  Way way = {in_place("push", std::move(settings), position_)};
  routes_.route(way, there, root_of(all_, collective_, into), collective_.name);
  way.push_back(marked_store(cache_of(into, from), "true", position_));
  add_path(there, std::move(way));
}

/// Writes the elements and the path by which the cluster `into` requests tuples of the cluster
/// `from`. Each of the two clusters gets an element for the requests, and the path leads from the
/// element of `into` to the element of `from`.
void ClusterTransfers::write_asks(std::uint32_t into, std::uint32_t from) {
  const std::uint32_t here = root_of(all_, collective_, into);
  const std::uint32_t there = root_of(all_, collective_, from);
  const std::string asks = asks_of(into, from);
  const std::string asked = between("asked", from, into);
  writer_.element(asks, here, ask_template(), 1, position_);
  writer_.element(asked, there, ask_template(), 1, position_);
  Way way = {in_place("push", {entry("from", word(asks, position_))}, position_)};
  routes_.route(way, here, there, collective_.name);
  // Only a failure puts an error mark into the element. The regular end of the cluster `into` needs
  // no mark, because no cluster waits for a further request of `into`.
  way.push_back(marked_store(asked, "failures", position_));
  add_path(here, std::move(way));
}

}  // namespace paths::expansion
