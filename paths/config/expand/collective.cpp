// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/collective.cpp — trees of joins, with what decides at their root.
#include "paths/config/expand/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paths/rounds/cluster_tuples.hpp"

namespace paths::expansion {

using base::Settings;

std::string CollectiveExpansion::name(std::string_view part) const {
  return fmt::format("{}.{}", collective_.name.text(), part);
}

std::uint32_t CollectiveExpansion::root_of(std::uint32_t cluster) const {
  return cluster_tree(all_, collective_, cluster).root;
}

void CollectiveExpansion::add_path(std::uint32_t host, std::uint32_t threads, Way way) {
  writer_.path(collective_.name, {host, 0, threads}, std::move(way), collective_.instrumented);
}

void CollectiveExpansion::write(base::Mistakes& mistakes) {
  Clusters clusters;
  for (std::uint32_t cluster = 0; cluster < all_.clusters.size(); ++cluster)
    if (!all_.computing(cluster).empty()) clusters.push_back(cluster);
  if (clusters.empty())
    mistakes.add(position_, fmt::format("collective {}: expected threads in some cluster, found "
                                        "none",
                                        collective_.name.text()));
  else if (collective_.all_to_all && clusters.size() > 1)
    write_all_to_all(clusters);
  else
    write_tree(clusters);
}

Settings CollectiveExpansion::join(std::string_view part, std::uint32_t host,
                                   std::optional<std::uint32_t> root_slot) {
  Settings settings = collective_.settings;
  if (collective_.kind == "broadcast" && root_slot) {
    Entries entries = settings.entries();
    entries.push_back(entry("from", number(*root_slot)));
    settings = Settings::map(std::move(entries), settings.position());
  }
  const std::string shared = name(part);
  writer_.share(shared, collective_.kind, host, settings, position_);
  return text(shared);
}

/// From `host` down to the root of its cluster, and on.
Way CollectiveExpansion::climb(const ClusterTree& tree, std::uint32_t cluster, std::uint32_t host,
                               const Way& rest) {
  Way way;
  for (;;) {
    const bool combines = tree.children.contains(host);
    if (host == tree.root) {
      const bool is_root = host == collective_.root_host;
      if (combines)
        way.push_back(join("join." + all_.cluster_name(cluster), host,
                           is_root ? std::optional(tree.root_slot()) : std::nullopt));
      append(way, rest);
      return way;
    }
    if (combines) way.push_back(join("fan." + all_.host_name(host), host, std::nullopt));
    const std::uint32_t parent = tree.parent.at(host);
    routes_.route(way, host, parent, collective_.name);
    host = parent;
  }
}

void CollectiveExpansion::write_cluster(std::uint32_t cluster, const Way& rest) {
  const ClusterTree tree = cluster_tree(all_, collective_, cluster);
  const Relaxation& relaxation = collective_.relaxation;
  for (const std::uint32_t host : tree.hosts) {
    Way way;
    const std::uint32_t threads = all_.hosts[host].threads;
    const bool is_root = host == collective_.root_host;
    if (relaxation.kind == Relaxation::Kind::periodic)
      way.push_back(in_place("periodic", {entry("every", number(relaxation.rounds))}, position_));
    if (threads > 1 || is_alone_)
      way.push_back(
          join("join." + all_.host_name(host), host, is_root ? std::optional(0u) : std::nullopt));
    append(way, climb(tree, cluster, host, rest));
    add_path(host, threads, std::move(way));
  }
}

/// What decides at a root, with what the other clusters tell it.
Settings CollectiveExpansion::check(const std::string& result, const Way& combine,
                                    const Way& asks) const {
  const Relaxation& relaxation = collective_.relaxation;
  const bool is_late = !combine.empty() && relaxation.tells_batches(true);
  Entries settings;
  if (is_late) {
    settings.push_back(entry("rounds", number(relaxation.rounds)));
    settings.push_back(entry("every", number(relaxation.every)));
  } else if (collective_.all_to_all) {
    const bool may_prove = relaxation.kind == Relaxation::Kind::conditional;
    settings.push_back(entry("relaxation", text(may_prove ? "conditional" : "exact")));
  }
  const Entries& combining = collective_.settings.entries();
  settings.insert(settings.end(), combining.begin(), combining.end());
  if (!collective_.written_condition.is_null())
    settings.push_back(entry("condition", collective_.written_condition));
  settings.push_back(entry("result", text(result)));
  if (!combine.empty()) settings.push_back(entry("combine", Settings::list(combine, position_)));
  if (!asks.empty()) {
    settings.push_back(entry("asks", Settings::list(asks, position_)));
    settings.push_back(entry("ask_for", number(relaxation.count)));
  }
  return in_place(is_late ? "lagged_check" : "condition_check", std::move(settings), position_);
}

void CollectiveExpansion::write_tree(const Clusters& clusters) {
  const std::string result = name("result");
  const bool checks = collective_.all_to_all || !collective_.written_condition.is_null();
  writer_.element(result, collective_.root_host,
                  checks ? partial_template(collective_.value) : collective_.value, 1, position_);
  Way end;
  if (clusters.size() > 1) {
    const auto root = std::find(clusters.begin(), clusters.end(), collective_.root_cluster);
    end.push_back(
        join("join", collective_.root_host, static_cast<std::uint32_t>(root - clusters.begin())));
  }
  if (checks) end.push_back(check(result, {}, {}));
  end.push_back(store(result, position_));
  for (const std::uint32_t cluster : clusters) {
    Way rest;
    const std::uint32_t from = root_of(cluster);
    if (collective_.relaxation.is_late())
      rest.push_back(
          in_place("lagged", {entry("rounds", number(collective_.relaxation.rounds))}, position_));
    const auto& delay = all_.clusters[cluster].broadcast_delay;
    if (delay && cluster != collective_.root_cluster)
      rest.push_back(
          routes_.link_stage(name("broadcast_delay." + all_.cluster_name(cluster)), from,
                             Settings::map({entry("latency", *delay)}, delay->position()), "up"));
    routes_.route(rest, from, collective_.root_host, collective_.name);
    append(rest, end);
    write_cluster(cluster, rest);
  }
}

}  // namespace paths::expansion
