// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/routes.cpp — steps of a path from host to host, inside a cluster and between
// clusters.
#include "paths/config/expand/routes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "paths/plan/ways.hpp"

namespace paths::expansion {

using base::Settings;

Settings Routes::forward(std::uint32_t host) {
  const auto [found, is_new] = forwards_.try_emplace(host);
  if (is_new) {
    const Settings& name = all_.hosts[host].name;
    found->second = in_place("forward", {entry("to", name)}, name.position());
  }
  return found->second;
}

Settings Routes::link_stage(const std::string& name, std::uint32_t host, const Settings& settings,
                            std::string_view role) {
  const Settings link = writer_.share(name, "emulate_link", host, settings, settings.position());
  return Settings::map({{link, word(std::string(role), settings.position())}}, settings.position());
}

/// Adds the wrappers for a step between two hosts of one cluster: wrappers that emulate the network
/// links of both hosts, and the wrapper that forwards to the host `to`.
void Routes::hop(Way& way, std::uint32_t from, std::uint32_t to) {
  if (from == to) return;
  const Ways::Cluster& cluster = all_.clusters[cluster_of(from)].way;
  const auto pass = [&](const std::string& name, std::uint32_t host, const Settings& link,
                        std::string_view role) {
    if (!link.is_null()) way.push_back(link_stage(name, host, link, role));
  };
  const std::string here = all_.host_name(from), there = all_.host_name(to);
  pass(network_link_name(here), from, cluster.outgoing(from), "down");
  pass(receiving_link_name(here), from, cluster.receiving(from), "up");
  way.push_back(forward(to));
  pass(receiving_link_name(there), to, cluster.receiving(to), "down");
  pass(network_link_name(there), to, cluster.outgoing(to), "up");
}

const MultiCluster::Link* Routes::link(std::uint32_t from, std::uint32_t to,
                                       const Settings& asker) {
  const auto found = all_.links.find({from, to});
  if (found != all_.links.end()) return &found->second;
  const bool one_way = all_.links.contains({to, from});
  const bool is_new =
      missing_links_.insert({from, to}).second && (one_way || !missing_links_.contains({to, from}));
  if (is_new)
    mistakes_.add(
        asker.position(),
        fmt::format("links: {} needs one {} {} {} {}{}, found none", asker.text(),
                    one_way ? "from" : "between", all_.cluster_name(from), one_way ? "to" : "and",
                    all_.cluster_name(to),
                    one_way ? ", as there is one the other way and replies must return" : ""));
  return nullptr;
}

bool Routes::has_links(std::uint32_t a, std::uint32_t b, const Settings& asker) {
  const bool there = link(a, b, asker) != nullptr;
  return link(b, a, asker) != nullptr && there;
}

/// Reports a mistake for each of the two clusters that has a switch. The links of a switch belong
/// to no host, so no wrapper on a path can emulate them.
void Routes::refuse_switches(std::uint32_t from, std::uint32_t to, const Settings& asker) {
  for (const std::uint32_t cluster : {from, to})
    if (all_.clusters[cluster].way.has_switch && switched_.insert(cluster).second)
      mistakes_.add(asker.position(),
                    fmt::format("uplink: paths of {} lead through exits of clusters, but cluster "
                                "{} has a switch; expected uplink: exit",
                                asker.text(), all_.cluster_name(cluster)));
}

/// Adds the wrappers for the step from one cluster to another. Each message is delayed in the
/// cluster that sends it: operations in the cluster `from`, replies in the cluster `to`.
void Routes::cross(Way& way, std::uint32_t from, std::uint32_t to, const Settings& asker) {
  refuse_switches(from, to, asker);
  if (!has_links(from, to, asker)) return;
  const MultiCluster::Link* there = link(from, to, asker);
  const MultiCluster::Link* back = link(to, from, asker);
  const std::string& a = all_.cluster_name(from);
  const std::string& b = all_.cluster_name(to);
  if (there->delays)
    way.push_back(link_stage(wan_link_name(a, b), exit(from), there->path_settings(), "down"));
  way.push_back(forward(exit(to)));
  if (back->delays)
    way.push_back(link_stage(wan_link_name(b, a), exit(to), back->path_settings(), "up"));
}

void Routes::route(Way& way, std::uint32_t from, std::uint32_t to, const Settings& asker) {
  const auto [found, is_new] = routes_.try_emplace(std::uint64_t{from} << 32 | to);
  if (is_new) add_route(found->second, from, to, asker);
  append(way, found->second);
}

void Routes::add_route(Way& way, std::uint32_t from, std::uint32_t to, const Settings& asker) {
  if (cluster_of(from) == cluster_of(to)) return hop(way, from, to);
  hop(way, from, exit(cluster_of(from)));
  cross(way, cluster_of(from), cluster_of(to), asker);
  hop(way, exit(cluster_of(to)), to);
}

Settings write_ways(const MultiCluster& all, const base::Position& position) {
  Entries ways;
  for (std::uint32_t from = 0; from < all.clusters.size(); ++from) {
    const MultiCluster::Cluster& cluster = all.clusters[from];
    Entries entries{entry("exit", all.hosts[cluster.way.exit].name)};
    for (const auto& [key, value] : cluster.way.text()) entries.push_back(entry(key.text(), value));
    Entries to;
    for (auto link = all.links.lower_bound({from, 0});
         link != all.links.end() && link->first.first == from; ++link)
      to.push_back(entry(all.cluster_name(link->first.second), link->second.settings));
    if (!to.empty()) entries.push_back(entry("to", Settings::map(std::move(to), position)));
    ways.push_back(entry(all.cluster_name(from), Settings::map(std::move(entries), position)));
  }
  return Settings::map(std::move(ways), position);
}

void write_protected_links(const MultiCluster& all, Entries& config,
                           const base::Position& position) {
  std::vector<Settings> pairs;
  for (const auto& [clusters, link] : all.links)
    if (link.is_protected)
      pairs.push_back(Settings::list({word(all.cluster_name(clusters.first), position),
                                      word(all.cluster_name(clusters.second), position)},
                                     link.settings.position()));
  if (pairs.empty()) return;
  const base::Position first = pairs.front().position();
  auto network = std::find_if(config.begin(), config.end(),
                              [](const auto& one) { return one.first.text() == "network"; });
  if (network == config.end())
    network = config.insert(config.begin(), entry("network", Settings::map({}, position)));
  // The reader of the low-level config reports a value of another kind.
  if (!network->second.is_map()) return;
  const Settings* const own = network->second.find("protected");
  if (own != nullptr && !own->is_list()) return;
  Entries entries;
  for (const auto& written : network->second.entries()) {
    if (written.first.text() != "protected")
      entries.push_back(written);
    else
      pairs.insert(pairs.end(), written.second.items().begin(), written.second.items().end());
  }
  entries.push_back(entry("protected", Settings::list(std::move(pairs), first)));
  network->second = Settings::map(std::move(entries), network->second.position());
}

}  // namespace paths::expansion
