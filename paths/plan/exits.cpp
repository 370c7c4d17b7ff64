// SPDX-License-Identifier: Apache-2.0
// paths/plan/exits.cpp — exits of clusters, and the rounds in which they inform each other.
#include "paths/plan/exits.hpp"

#include <algorithm>
#include <set>

namespace paths {
namespace {

constexpr std::size_t exits_in_a_round_most = 32;

/// Returns one more than the number of exits to which each exit sends in a round.
std::uint64_t exits_in_a_round(const Plan& plan) {
  const std::size_t clusters = plan.clusters.size();
  const bool have_all = plan.ways && plan.ways->links.size() == clusters * (clusters - 1);
  return have_all ? std::min(clusters, exits_in_a_round_most) : clusters;
}

bool have_paths(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  if (to >= plan.shares.size()) return false;
  const auto& entrances = plan.shares[to].entrances;
  return std::any_of(entrances.begin(), entrances.end(),
                     [from](const Plan::Entrance& one) { return one.from_host == from; });
}

bool have_way(const Plan& plan, std::uint32_t one, std::uint32_t other) {
  return missing_way(plan, one, other).empty() || missing_way(plan, other, one).empty();
}

}  // namespace

std::uint32_t exit_of(const Plan& plan, std::uint32_t cluster) {
  if (plan.ways) return plan.ways->clusters[cluster].exit;
  const auto first =
      std::find_if(plan.hosts.begin(), plan.hosts.end(),
                   [&](const Plan::PlanHost& host) { return host.cluster == cluster; });
  return static_cast<std::uint32_t>(first - plan.hosts.begin());
}

std::vector<std::uint32_t> clusters_in_round(const Plan& plan, std::uint32_t cluster,
                                             std::size_t round, bool are_notified) {
  const std::uint64_t clusters = plan.clusters.size(), base = exits_in_a_round(plan);
  std::uint64_t stride = 1;
  for (std::uint64_t before = 0; before < round; ++before) stride *= base;
  std::vector<std::uint32_t> found;
  for (std::uint64_t times = 1; times < base && times * stride < clusters; ++times)
    found.push_back(static_cast<std::uint32_t>(
        (cluster + (are_notified ? times * stride : clusters - times * stride)) % clusters));
  return found;
}

std::vector<std::uint32_t> hosts_to_meet(const Plan& plan, std::uint32_t host) {
  if (!plan.lanes.is_written) return {};
  const std::uint32_t here = plan.hosts[host].cluster;
  std::set<std::uint32_t> met;
  if (const std::uint32_t exit = exit_of(plan, here); exit != host) {
    met.insert(exit);
  } else {
    for (std::size_t round = 0;; ++round) {
      const auto told = clusters_in_round(plan, here, round, true);
      if (told.empty()) break;
      for (const std::uint32_t cluster : told) met.insert(exit_of(plan, cluster));
      for (const std::uint32_t cluster : clusters_in_round(plan, here, round, false))
        met.insert(exit_of(plan, cluster));
    }
    std::erase_if(
        met, [&](std::uint32_t other) { return other < host || !have_way(plan, host, other); });
  }
  std::erase_if(met, [&](std::uint32_t other) {
    return have_paths(plan, host, other) || have_paths(plan, other, host);
  });
  return {met.begin(), met.end()};
}

}  // namespace paths
