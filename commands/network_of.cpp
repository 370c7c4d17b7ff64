// SPDX-License-Identifier: Apache-2.0
// commands/network_of.cpp — networks and links of a plan, by participant and by pair of clusters.
#include "commands/network_of.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "tuning/read_link_model.hpp"

namespace commands {
namespace {

using base::Settings;

/// Of settings that were checked; null: nothing to emulate.
tuning::LinkModel model_of(const Settings& link, base::Mistakes& mistakes) {
  if (link.is_null()) return {};
  base::MapReader reader(link, mistakes, "link");
  tuning::LinkModel model = tuning::read_link_model(reader);
  reader.finish();
  return model;
}

/// The clusters that have participants, in the order of the topology.
std::vector<std::uint32_t> clusters_of(const paths::Plan& plan,
                                       const std::vector<std::uint32_t>& hosts,
                                       const collectives::Topology& topology) {
  std::vector<std::uint32_t> clusters;
  for (std::size_t number = 0; number < topology.clusters(); ++number)
    clusters.push_back(plan.hosts[hosts[topology.cluster(number)[0]]].cluster);
  return clusters;
}

}  // namespace

std::vector<std::uint32_t> participants_of(const paths::Plan& plan) {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (plan.hosts[host].threads > 0) hosts.push_back(host);
  return hosts;
}

collectives::Topology topology_of(const paths::Plan& plan) {
  std::vector<collectives::Topology::Path> paths;
  for (const std::uint32_t host : participants_of(plan))
    paths.push_back({plan.hosts[host].cluster});
  if (paths.empty())
    throw base::ConfigError({{{"", 0, 0}, "expected hosts with threads, found none"}});
  return collectives::Topology(paths);
}

pricing::Network network_of(const paths::Plan& plan) {
  pricing::Network network;
  network.topology = std::make_shared<const collectives::Topology>(topology_of(plan));
  network.frame = plan.lanes.frame_bytes == 0 ? pricing::unlimited : plan.lanes.frame_bytes;
  const std::vector<std::uint32_t> hosts = participants_of(plan);
  base::Mistakes mistakes;
  for (const std::uint32_t host : hosts)
    network.outgoing.push_back(
        plan.ways ? model_of(plan.ways->clusters[plan.hosts[host].cluster].network, mistakes)
                  : tuning::LinkModel());
  network.receiving.resize(hosts.size());
  const auto clusters = clusters_of(plan, hosts, *network.topology);
  network.links.resize(clusters.size() * clusters.size());
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
        network.links[from * clusters.size() + to].model =
            model_of(plan.ways->links.at({clusters[from], clusters[to]}), mistakes);
    }
  mistakes.throw_if_any();
  return network;
}

}  // namespace commands
