// SPDX-License-Identifier: Apache-2.0
// groups/execution/machines.cpp — assignment of participants to machines
#include "groups/execution/machines.hpp"

#include <algorithm>

#include "paths/machine/shared_region.hpp"
#include "paths/one_machine.hpp"
#include "paths/plan/ways.hpp"

namespace groups {
namespace {

bool can_share(const paths::Plan& plan, std::uint32_t host, std::uint32_t other) {
  return plan.hosts[host].cluster == plan.hosts[other].cluster &&
         paths::are_of_one_machine(plan.hosts[host].address, plan.hosts[other].address) &&
         !paths::outgoing_link(plan, host).is_there() &&
         !paths::receiving_link(plan, host).is_there();
}

}  // namespace

std::optional<Machines> Machines::of(const paths::Plan& plan,
                                     const std::vector<std::uint32_t>& hosts,
                                     const collectives::Topology& topology) {
  if (topology.depth() > 1 || !topology.is_in_order()) return std::nullopt;
  Machines machines;
  machines.machines_.resize(hosts.size());
  std::size_t largest = 0;
  for (std::uint32_t number = 0; number < topology.clusters(); ++number) {
    const auto cluster = topology.cluster(number);
    for (const std::uint32_t participant : cluster) {
      if (!can_share(plan, hosts[participant], hosts[cluster[0]])) return std::nullopt;
      machines.machines_[participant] = number;
    }
    machines.participants_.emplace_back(cluster.begin(), cluster.end());
    largest = std::max(largest, cluster.size());
  }
  if (largest < 2 || largest > paths::SharedRegion::members_max) return std::nullopt;
  return machines;
}

std::uint32_t Machines::index_of(std::uint32_t participant) const {
  return participant - participants(machine_of(participant)).front();
}

std::vector<std::uint32_t> Machines::leaders(std::optional<std::uint32_t> root) const {
  std::vector<std::uint32_t> leaders;
  for (const auto& participants : participants_) leaders.push_back(participants.front());
  if (root) leaders[machine_of(*root)] = *root;
  return leaders;
}

std::vector<std::uint32_t> hosts_of(const std::vector<std::uint32_t>& participants,
                                    const std::vector<std::uint32_t>& hosts) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t participant : participants) found.push_back(hosts[participant]);
  return found;
}

}  // namespace groups
