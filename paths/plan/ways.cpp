// SPDX-License-Identifier: Apache-2.0
// paths/plan/ways.cpp — steps inside clusters and between them.
#include "paths/plan/ways.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "paths/plan/plan.hpp"

namespace paths {
namespace {

Hop inside(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  if (!plan.ways) return {to};
  const base::Settings& network = plan.ways->clusters[plan.hosts[from].cluster].network;
  if (network.is_null()) return {to};
  return {to, network_link_name(plan.hosts[from].name), network};
}

}  // namespace

std::string network_link_name(const std::string& host) { return "network." + host; }

std::string wan_link_name(const std::string& from_cluster, const std::string& to_cluster) {
  return fmt::format("wan.{}.{}", from_cluster, to_cluster);
}

std::string missing_way(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t here = plan.hosts[from].cluster, there = plan.hosts[to].cluster;
  if (here == there) return {};
  if (!plan.ways)
    return "the config is at the low level and has several clusters, but no ways between them "
           "(key `ways`, which `paths expand` writes of a config with the key `lanes`)";
  if (plan.ways->links.contains({here, there})) return {};
  return fmt::format("the config has no link from cluster {} to cluster {}", plan.clusters[here],
                     plan.clusters[there]);
}

Hop next_hop(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t here = plan.hosts[from].cluster, there = plan.hosts[to].cluster;
  if (here == there) return inside(plan, from, to);
  const Ways& ways = *plan.ways;
  if (ways.clusters[here].exit != from) return inside(plan, from, ways.clusters[here].exit);
  const std::uint32_t far_exit = ways.clusters[there].exit;
  const base::Settings& link = ways.links.at({here, there});
  if (link.is_null()) return {far_exit};
  return {far_exit, wan_link_name(plan.clusters[here], plan.clusters[there]), link};
}

std::vector<Hop> way_between(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  std::vector<Hop> way;
  for (std::uint32_t at = from; at != to; at = way.back().to) way.push_back(next_hop(plan, at, to));
  return way;
}

}  // namespace paths
