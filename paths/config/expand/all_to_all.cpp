// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/all_to_all.cpp — a tree for each cluster, and how their roots tell each
// other.
#include <fmt/format.h>

#include <utility>

#include "paths/config/expand/collective.hpp"
#include "paths/rounds/cluster_tuples.hpp"

namespace paths::expansion {

using Transfer = Relaxation::Transfer;

std::string CollectiveExpansion::between(std::string_view kind, std::uint32_t here,
                                         std::uint32_t other) const {
  return name(fmt::format("{}.{}.{}", kind, all_.cluster_name(here), all_.cluster_name(other)));
}

/// Of many clusters without links, what would be written is very much larger than the config.
bool CollectiveExpansion::has_all_links(const Clusters& clusters) {
  bool has_all = true;
  for (const std::uint32_t into : clusters)
    for (const std::uint32_t from : clusters)
      if (into < from) has_all = routes_.has_links(into, from, collective_.name) && has_all;
  return has_all;
}

void CollectiveExpansion::write_all_to_all(const Clusters& clusters) {
  if (!has_all_links(clusters)) return;
  const Relaxation& relaxation = collective_.relaxation;
  const bool batches = relaxation.tells_batches(true);
  const pastset::Template tuple = batches ? batch_template() : partial_template(collective_.value);
  // Nobody can be further ahead than what the others told allows; what was read is axed.
  const std::uint64_t told = batches ? 2 * relaxation.rounds / relaxation.every + 3 : 1;
  for (const std::uint32_t cluster : clusters) {
    const std::uint32_t root = root_of(cluster);
    const std::string result = name("result." + all_.cluster_name(cluster));
    writer_.element(result, root, tuple, told, position_);
    Way combine, asks;
    for (const std::uint32_t other : clusters) {
      const std::string cache = between("cache", cluster, other);
      combine.push_back(text(other == cluster ? result : cache));
      if (other == cluster) continue;
      writer_.element(cache, root, tuple, batches ? 0 : 1, position_);
      if (relaxation.transfer == Transfer::demand)
        asks.push_back(text(between("asks", cluster, other)));
    }
    write_cluster(cluster, {check(result, combine, asks), store(result, position_)});
  }
  for (const std::uint32_t into : clusters)
    for (const std::uint32_t from : clusters)
      if (into != from) write_transfer(into, from);
}

void CollectiveExpansion::write_transfer(std::uint32_t into, std::uint32_t from) {
  const Relaxation& relaxation = collective_.relaxation;
  if (relaxation.transfer == Transfer::demand) write_asks(into, from);
  if (relaxation.transfer == Transfer::pull && !relaxation.tells_batches(true))
    write_prefetch(into, from);
  else
    write_push(into, from);
}

void CollectiveExpansion::write_prefetch(std::uint32_t into, std::uint32_t from) {
  const std::uint32_t here = root_of(into);
  Way way = {in_place("prefetch", {entry("into", text(between("cache", into, from)))}, position_)};
  routes_.route(way, here, root_of(from), collective_.name);
  const std::string result = name("result." + all_.cluster_name(from));
  way.push_back(in_place("observe", {entry("element", text(result))}, position_));
  add_path(here, 0, std::move(way));
}

void CollectiveExpansion::write_push(std::uint32_t into, std::uint32_t from) {
  const Relaxation& relaxation = collective_.relaxation;
  const std::uint32_t there = root_of(from);
  Entries settings = {entry("from", text(name("result." + all_.cluster_name(from))))};
  if (relaxation.tells_batches(true)) settings.push_back(entry("every", text("true")));
  if (relaxation.transfer == Transfer::demand)
    settings.push_back(entry("asks", text(between("asked", from, into))));
  Way way = {in_place("push", std::move(settings), position_)};
  routes_.route(way, there, root_of(into), collective_.name);
  way.push_back(marked_store(between("cache", into, from), "true", position_));
  add_path(there, 0, std::move(way));
}

/// How `into` asks `from`: an element of each, and the path between them.
void CollectiveExpansion::write_asks(std::uint32_t into, std::uint32_t from) {
  const std::uint32_t here = root_of(into);
  const std::uint32_t there = root_of(from);
  const std::string asks = between("asks", into, from);
  const std::string asked = between("asked", from, into);
  writer_.element(asks, here, ask_template(), 1, position_);
  writer_.element(asked, there, ask_template(), 1, position_);
  Way way = {in_place("push", {entry("from", text(asks))}, position_)};
  routes_.route(way, here, there, collective_.name);
  // Who asks no more needs no answer either.
  way.push_back(marked_store(asked, "failures", position_));
  add_path(here, 0, std::move(way));
}

}  // namespace paths::expansion
