// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/collective.cpp — expansion of a collective into joins, and into the wrappers
// at the roots of clusters that decide the condition.
#include "paths/config/expand/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paths/config/expand/cluster_transfers.hpp"
#include "paths/joins/cluster_tuples.hpp"

namespace paths::expansion {

using base::Settings;

CollectiveExpansion::CollectiveExpansion(const MultiCluster& all,
                                         const MultiCluster::Collective& collective,
                                         const CollectiveKind& kind, Writer& writer, Routes& routes)
    : all_(all),
      collective_(collective),
      kind_(kind),
      position_(collective.name.position()),
      join_settings_(Settings::map(collective.settings.entries(), position_)),
      is_alone_(all.thread_count() == 1),
      writer_(writer),
      routes_(routes) {
  for (std::uint32_t cluster = 0; cluster < all.clusters.size(); ++cluster)
    if (!all.computing(cluster).empty()) clusters_.push_back(cluster);
}

void CollectiveExpansion::add_path(std::uint32_t host, std::uint32_t threads, Way way) {
  writer_.path(collective_.name, {host, 0, threads}, std::move(way), collective_.instrumented);
}

void CollectiveExpansion::write(base::Mistakes& mistakes) {
  if (clusters_.empty())
    return mistakes.add(position_, fmt::format("collective {}: expected threads in some cluster, "
                                               "found none",
                                               collective_.name.text()));
  write_graph();
  collective_.algorithm.word->expand(*this);
}

/// Writes the graph of the collective: an entry of the section `graphs` that describes what the
/// collective's paths do.
void CollectiveExpansion::write_graph() {
  Entries is = {entry("kind", text(collective_.kind))};
  if (has_algorithms(collective_.kind))
    is.push_back(entry("algorithm", text(algorithm_text(collective_.algorithm))));
  const Entries& own = collective_.settings.entries();
  is.insert(is.end(), own.begin(), own.end());
  if (!collective_.written_condition.is_null())
    is.push_back(entry("condition", collective_.written_condition));
  writer_.graph(collective_.name, std::move(is));
}

Settings CollectiveExpansion::join(std::string_view part, std::uint32_t host,
                                   std::optional<std::uint32_t> root_slot) {
  Settings settings = join_settings_;
  if (!kind_.root_slot.empty() && root_slot) {
    Entries entries = settings.entries();
    entries.push_back(entry_of(kind_.root_slot, *root_slot));
    settings = Settings::map(std::move(entries), position_);
  }
  return writer_.share(name_in(collective_, part), collective_.kind, host, settings, position_);
}

/// Appends to `way` the wrappers from `host` down to the root of its cluster, and then `rest`.
void CollectiveExpansion::climb(Way& way, const ClusterTree& tree, std::uint32_t host,
                                const Way& rest, Climbs& known) {
  const bool combines = tree.has_children(host);
  if (const auto found = known.find(host); found != known.end()) return append(way, found->second);
  Way climbed;
  Way& from_here = combines ? climbed : way;
  if (host == tree.root) {
    const bool is_root = host == collective_.root_host;
    if (combines)
      climbed.push_back(join("join." + all_.cluster_name(all_.hosts[host].cluster), host,
                             is_root ? std::optional(tree.root_slot()) : std::nullopt));
    append(from_here, rest);
  } else {
    if (combines) climbed.push_back(join("fan." + all_.host_name(host), host, std::nullopt));
    const std::uint32_t parent = tree.parent_of(host);
    routes_.route(from_here, host, parent, collective_.name);
    climb(from_here, tree, parent, rest, known);
  }
  if (combines) append(way, known.emplace(host, std::move(climbed)).first->second);
}

void CollectiveExpansion::write_cluster(std::uint32_t cluster, const Way& rest) {
  const ClusterTree tree = cluster_tree(all_, collective_, cluster);
  Climbs known;
  for (const std::uint32_t host : tree.hosts) {
    Way way = above_joins_;
    const std::uint32_t threads = all_.hosts[host].threads;
    const bool is_root = host == collective_.root_host;
    if (threads > 1 || is_alone_)
      way.push_back(
          join("join." + all_.host_name(host), host, is_root ? std::optional(0u) : std::nullopt));
    climb(way, tree, host, rest, known);
    add_path(host, threads, std::move(way));
  }
}

/// Returns the setting `relaxation` for the wrapper that checks the condition. This setting selects
/// whether the values of only some clusters may decide the condition. Returns no setting if all
/// clusters form one tree.
Entries CollectiveExpansion::decides() const {
  if (!collective_.algorithm.all_to_all) return {};
  return {
      entry("relaxation", text(collective_.algorithm.word->needs_proof ? "conditional" : "exact"))};
}

/// Returns the wrapper that decides a round at the root of a cluster. This wrapper combines the
/// value of the own cluster with those values of other clusters that the round needs.
Settings CollectiveExpansion::check(const Telling& telling, const std::string& result,
                                    const Way& combine, const Way& asks) const {
  Entries settings = telling.settings;
  const Entries& combining = collective_.settings.entries();
  settings.insert(settings.end(), combining.begin(), combining.end());
  if (!collective_.written_condition.is_null())
    settings.push_back(entry("condition", collective_.written_condition));
  settings.push_back(entry("result", text(result)));
  if (!combine.empty()) settings.push_back(entry("combine", Settings::list(combine, position_)));
  if (!asks.empty()) {
    settings.push_back(entry("asks", Settings::list(asks, position_)));
    settings.push_back(entry_of("ask_for", collective_.algorithm.tuples));
  }
  return in_place(telling.check, std::move(settings));
}

bool CollectiveExpansion::checks() const {
  return collective_.algorithm.all_to_all || !collective_.written_condition.is_null();
}

/// Writes the collective as a schedule of messages between its hosts. Every host gets a result with
/// the same bits. Each host can therefore evaluate the condition itself.
void CollectiveExpansion::write_schedule() {
  writer_.need_lanes();
  Entries settings = {
      entry("by", word(collective_.algorithm.schedule, collective_.algorithm_position)),
      entry("collective", collective_.name)};
  const Entries& combining = collective_.settings.entries();
  settings.insert(settings.end(), combining.begin(), combining.end());
  const Settings schedule = in_place("schedule", std::move(settings));
  for (const std::uint32_t cluster : clusters_)
    for (const std::uint32_t host : all_.computing(cluster)) {
      const std::string result = name_in(collective_, "result." + all_.host_name(host));
      writer_.element(result, host,
                      checks() ? partial_template(collective_.value) : collective_.value, 1,
                      position_);
      const std::uint32_t threads = all_.hosts[host].threads;
      Way way = above_joins_;
      if (threads > 1 || is_alone_)
        way.push_back(join("join." + all_.host_name(host), host, std::nullopt));
      way.push_back(schedule);
      if (checks()) way.push_back(check({.settings = {}, .tuple = {}}, result, {}, {}));
      way.push_back(store(result, position_));
      add_path(host, threads, std::move(way));
    }
}

void CollectiveExpansion::write_tree() {
  const std::string result = name_in(collective_, "result");
  writer_.element(result, collective_.root_host,
                  checks() ? partial_template(collective_.value) : collective_.value, 1, position_);
  Way end;
  if (clusters_.size() > 1) {
    const auto root = std::find(clusters_.begin(), clusters_.end(), collective_.root_cluster);
    end.push_back(
        join("join", collective_.root_host, static_cast<std::uint32_t>(root - clusters_.begin())));
  }
  if (checks()) end.push_back(check({.settings = decides(), .tuple = {}}, result, {}, {}));
  end.push_back(store(result, position_));
  for (const std::uint32_t cluster : clusters_) {
    Way rest = below_clusters_;
    const std::uint32_t from = root_of(all_, collective_, cluster);
    const auto& delay = all_.clusters[cluster].broadcast_delay;
    if (delay && cluster != collective_.root_cluster)
      rest.push_back(routes_.link_stage(
          name_in(collective_, "broadcast_delay." + all_.cluster_name(cluster)), from,
          Settings::map({entry("latency", *delay)}, delay->position()), "up"));
    routes_.route(rest, from, collective_.root_host, collective_.name);
    append(rest, end);
    write_cluster(cluster, rest);
  }
}

}  // namespace paths::expansion
