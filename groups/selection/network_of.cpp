// SPDX-License-Identifier: Apache-2.0
// groups/selection/network_of.cpp — cost models of a plan's links and of measured links
#include "groups/selection/network_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/errors.hpp"
#include "base/link_model/host_costs.hpp"
#include "paths/links/emulated_links.hpp"
#include "paths/plan/machines.hpp"

namespace groups {
namespace {

/// Returns the model of an emulated link; if the link is not emulated, a model that takes no time.
tuning::Link passed(const paths::HopLink& link) {
  return link.is_there() ? paths::link_of(link) : tuning::Link();
}

/// Returns the clusters that have participants, in the order of the topology.
std::vector<std::uint32_t> clusters_of(const paths::Plan& plan,
                                       const std::vector<std::uint32_t>& hosts,
                                       const collectives::Topology& topology) {
  std::vector<std::uint32_t> clusters;
  for (std::size_t number = 0; number < topology.clusters(); ++number)
    clusters.push_back(plan.hosts[hosts[topology.cluster(number)[0]]].cluster);
  return clusters;
}

/// Adds the exits of the clusters to the network. Also appends to `hosts` the exits that are not
/// participants.
void add_exits(pricing::Network& network, const paths::Plan& plan,
               std::vector<std::uint32_t>& hosts, const std::vector<std::uint32_t>& clusters) {
  for (const std::uint32_t cluster : clusters) {
    const paths::Ways::Cluster& ways = plan.ways->clusters[cluster];
    std::optional<std::uint32_t>& exit = network.exits.emplace_back();
    if (ways.has_switch) continue;
    const auto found = std::find(hosts.begin(), hosts.end(), ways.exit);
    exit = static_cast<std::uint32_t>(found - hosts.begin());
    if (found != hosts.end()) continue;
    exit = static_cast<std::uint32_t>(network.outgoing.size());
    hosts.push_back(ways.exit);
    network.outgoing.push_back(passed(paths::outgoing_link(plan, ways.exit)).model);
    network.receiving.push_back(passed(paths::receiving_link(plan, ways.exit)).model);
  }
}

/// Adds to the network the costs of hosts that the plan states, if it states any. `hosts` are the
/// participants and exits, in the order of Network::outgoing.
void add_costs(pricing::Network& network, const paths::Plan& plan,
               const std::vector<std::uint32_t>& hosts,
               const std::vector<std::uint32_t>& clusters) {
  if (plan.costs == nullptr) return;
  const tuning::HostCosts& costs = *plan.costs;
  network.fold_bytes_per_second = costs.fold_bytes_per_second();
  network.copy_bytes_per_second = costs.copy_bytes_per_second();
  const auto none = std::make_shared<const tuning::FrameCosts>();
  for (const std::uint32_t from : clusters)
    for (const std::uint32_t to : clusters) {
      const auto& one = costs.between(plan.clusters[from], plan.clusters[to]);
      network.frame_costs.push_back(one == nullptr ? none : one);
    }
  for (const std::uint32_t host : hosts) network.speeds.push_back(plan.hosts[host].speed);
  network.wake_up = costs.wake_up;
  network.cores = costs.cores;
  if (costs.cores == 0) return;
  const std::vector<std::uint32_t> machines = paths::machines_of(plan);
  for (const std::uint32_t host : hosts) network.machines.push_back(machines[host]);
}

}  // namespace

std::vector<std::uint32_t> participants_of(const paths::Plan& plan) {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (plan.hosts[host].threads > 0) hosts.push_back(host);
  return hosts;
}

/// Numbers the groups at each level in the order in which the plan lists their hosts.
collectives::Topology topology_of(const paths::Plan& plan,
                                  const std::vector<std::uint32_t>& hosts) {
  if (hosts.empty())
    throw base::ConfigError({{{"", 0, 0}, "expected hosts with threads, found none"}});
  std::size_t depth = 0;
  for (const std::uint32_t host : hosts) depth = std::max(depth, plan.hosts[host].groups.size());
  std::map<std::vector<std::string>, std::uint32_t> numbers;
  std::vector<collectives::Topology::Path> paths;
  for (const std::uint32_t number : hosts) {
    const paths::Plan::PlanHost& host = plan.hosts[number];
    collectives::Topology::Path& path = paths.emplace_back(1, host.cluster);
    std::vector<std::string> inside{plan.clusters[host.cluster]};
    for (std::size_t level = 0; level < depth; ++level) {
      inside.push_back(level < host.groups.size() ? host.groups[level] : "");
      const auto next = static_cast<std::uint32_t>(numbers.size());
      path.push_back(numbers.try_emplace(inside, next).first->second);
    }
  }
  return collectives::Topology(paths);
}

pricing::Network network_of(const paths::Plan& plan) {
  return network_of(plan, participants_of(plan));
}

pricing::Network network_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts) {
  pricing::Network network;
  network.topology = std::make_shared<const collectives::Topology>(topology_of(plan, hosts));
  network.frame = plan.lanes.frame_bytes == 0 ? pricing::unlimited : plan.lanes.frame_bytes;
  network.striping = plan.lanes.striping;
  for (const std::uint32_t host : hosts) {
    network.outgoing.push_back(passed(paths::outgoing_link(plan, host)).model);
    network.receiving.push_back(passed(paths::receiving_link(plan, host)).model);
  }
  const auto clusters = clusters_of(plan, hosts, *network.topology);
  std::vector<std::uint32_t> all = hosts;
  if (plan.ways && clusters.size() > 1) add_exits(network, plan, all, clusters);
  add_costs(network, plan, all, clusters);
  network.links.resize(clusters.size() * clusters.size());
  base::Mistakes mistakes;
  for (std::size_t from = 0; from < clusters.size(); ++from)
    for (std::size_t to = 0; to < clusters.size(); ++to) {
      if (from == to) continue;
      const auto first_of = [&](std::size_t cluster) {
        return hosts[network.topology->cluster(cluster)[0]];
      };
      if (const auto missing = paths::missing_way(plan, first_of(from), first_of(to));
          !missing.empty())
        mistakes.add({"", 0, 0}, missing);
      else
        network.links[from * clusters.size() + to] =
            passed(paths::crossing(plan, clusters[from], first_of(to)).link);
    }
  mistakes.throw_if_any();
  return network;
}

namespace {

/// Throws: ConfigError if a measured cluster is not in the run, or if a cluster of the hosts is not
///         measured.
void check_clusters(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                    const tuning::MeasuredNetwork& measured) {
  base::Mistakes mistakes;
  std::set<std::string_view> missing;
  for (const std::uint32_t host : hosts) missing.insert(plan.clusters[plan.hosts[host].cluster]);
  for (const auto& cluster : measured.clusters) {
    missing.erase(cluster.name);
    if (std::find(plan.clusters.begin(), plan.clusters.end(), cluster.name) == plan.clusters.end())
      mistakes.add(cluster.position,
                   fmt::format("expected a cluster of the run, found {}", cluster.name));
  }
  for (const std::string_view cluster : missing)
    mistakes.add(measured.position, fmt::format("no {}, which the run has", cluster));
  mistakes.throw_if_any();
}

/// Returns the routes of the plan (paths::Ways) with measured networks and links. Exits, rates of
/// exits and switches come from the plan.
paths::Ways measured_ways(const paths::Plan& plan, const tuning::MeasuredNetwork& measured) {
  paths::Ways ways = plan.ways.value_or(paths::Ways{
      .clusters = std::vector<paths::Ways::Cluster>(plan.clusters.size()), .links = {}});
  std::map<std::string_view, std::uint32_t> numbers;
  for (const std::string& cluster : plan.clusters)
    numbers.emplace(cluster, static_cast<std::uint32_t>(numbers.size()));
  for (const auto& cluster : measured.clusters)
    if (cluster.network) ways.clusters[numbers.at(cluster.name)].network = cluster.network->text();
  for (const auto& [pair, link] : measured.links)
    ways.links[{numbers.at(pair.first), numbers.at(pair.second)}] = link.text();
  return ways;
}

}  // namespace

pricing::Network network_of(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                            const tuning::MeasuredNetwork& measured) {
  check_clusters(plan, hosts, measured);
  network_of(plan, hosts);  // throws if the config lacks a link
  paths::Plan believed = plan;
  believed.ways = measured_ways(plan, measured);
  if (measured.costs) believed.costs = std::make_shared<const tuning::HostCosts>(*measured.costs);
  return network_of(believed, hosts);
}

}  // namespace groups
