// SPDX-License-Identifier: Apache-2.0
// paths/plan/ways.cpp — steps of routes inside clusters and between them.
#include "paths/plan/ways.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/errors.hpp"
#include "paths/plan/plan.hpp"

namespace paths {
namespace {

using base::Settings;

Hop inside(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  return {.to = to, .outgoing = outgoing_link(plan, from), .receiving = receiving_link(plan, to)};
}

}  // namespace

Settings Ways::Cluster::outgoing(std::uint32_t host) const {
  if (host != exit || rate.is_null()) return network;
  std::vector<Settings::Entry> entries;
  for (const Settings::Entry& entry : network.entries())
    if (entry.first.text() != "bandwidth") entries.push_back(entry);
  entries.emplace_back(Settings::scalar("bandwidth", rate.position()), rate);
  return Settings::map(std::move(entries), rate.position());
}

Settings Ways::Cluster::receiving(std::uint32_t host) const {
  const Settings sending = receives ? outgoing(host) : Settings();
  const Settings* bandwidth = sending.find("bandwidth");
  if (bandwidth == nullptr) return {};
  return Settings::map({{Settings::scalar("bandwidth", bandwidth->position()), *bandwidth}},
                       bandwidth->position());
}

std::vector<Settings::Entry> Ways::Cluster::text() const {
  const auto word = [](const char* text) { return Settings::scalar(text); };
  std::vector<Settings::Entry> all;
  if (has_switch) all.emplace_back(word("uplink"), word("switch"));
  if (!rate.is_null()) all.emplace_back(word("rate"), rate);
  if (network.is_null()) return all;
  std::vector<Settings::Entry> entries = network.entries();
  if (receives) entries.emplace_back(word("receiving"), word("true"));
  all.emplace_back(word("network"), Settings::map(std::move(entries), network.position()));
  return all;
}

std::string network_link_name(const std::string& host) { return "network." + host; }

std::string receiving_link_name(const std::string& host) { return "receiving." + host; }

std::string wan_link_name(const std::string& from_cluster, const std::string& to_cluster) {
  return fmt::format("wan.{}.{}", from_cluster, to_cluster);
}

std::string missing_way(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t here = plan.hosts[from].cluster, there = plan.hosts[to].cluster;
  if (here == there) return {};
  if (!plan.ways)
    return "the config is at the low level and has several clusters, but no ways between them "
           "(key `ways`, which `paths expand` writes of a config with the key `lanes`)";
  const std::size_t clusters = plan.clusters.size();
  if (plan.ways->links.size() == clusters * (clusters - 1)) return {};
  if (plan.ways->links.contains({here, there})) return {};
  return fmt::format("the config has no link from cluster {} to cluster {}", plan.clusters[here],
                     plan.clusters[there]);
}

HopLink outgoing_link(const Plan& plan, std::uint32_t host) {
  if (!plan.ways) return {};
  return {network_link_name(plan.hosts[host].name),
          plan.ways->clusters[plan.hosts[host].cluster].outgoing(host)};
}

HopLink receiving_link(const Plan& plan, std::uint32_t host) {
  if (!plan.ways) return {};
  return {receiving_link_name(plan.hosts[host].name),
          plan.ways->clusters[plan.hosts[host].cluster].receiving(host)};
}

Crossing crossing(const Plan& plan, std::uint32_t from_cluster, std::uint32_t to) {
  const std::uint32_t there = plan.hosts[to].cluster;
  const Ways& ways = *plan.ways;
  const auto back = ways.links.find({there, from_cluster});
  return {
      ways.clusters[there].has_switch ? to : ways.clusters[there].exit,
      {wan_link_name(plan.clusters[from_cluster], plan.clusters[there]),
       ways.links.at({from_cluster, there}), back == ways.links.end() ? Settings() : back->second}};
}

std::uint32_t switch_number(const Plan& plan, std::uint32_t cluster) {
  return static_cast<std::uint32_t>(plan.hosts.size()) + cluster;
}

std::string place_name(const Plan& plan, std::uint32_t place) {
  const std::size_t hosts = plan.hosts.size();
  if (place < hosts) return plan.hosts[place].name;
  if (place - hosts < plan.clusters.size())
    return fmt::format("the switch of {}", plan.clusters[place - hosts]);
  return fmt::format("number {}", place);
}

Hop next_hop(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t here = plan.hosts[from].cluster, there = plan.hosts[to].cluster;
  if (here == there) return inside(plan, from, to);
  const Ways::Cluster& mine = plan.ways->clusters[here];
  if (!mine.has_switch && mine.exit != from) return inside(plan, from, mine.exit);
  Crossing next = crossing(plan, here, to);
  Hop hop{.to = next.to};
  if (mine.has_switch) hop.outgoing = outgoing_link(plan, from);
  (mine.has_switch ? hop.across : hop.outgoing) = std::move(next.link);
  if (plan.ways->clusters[there].has_switch) hop.receiving = receiving_link(plan, next.to);
  return hop;
}

std::vector<Hop> way_between(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  std::vector<Hop> way;
  for (std::uint32_t at = from; at != to; at = way.back().to) way.push_back(next_hop(plan, at, to));
  return way;
}

}  // namespace paths
