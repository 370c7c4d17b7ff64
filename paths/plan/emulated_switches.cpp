// SPDX-License-Identifier: Apache-2.0
// paths/plan/emulated_switches.cpp — emulated switches and their addresses.
#include "paths/plan/emulated_switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "paths/plan/exits.hpp"

namespace paths {
namespace {

std::uint64_t port_of(const std::string& address) {
  const auto parts = base::parse_address(address);
  return parts ? parts->port : 0;
}

}  // namespace

bool is_switch_emulated(const Plan& plan, std::uint32_t cluster) {
  if (!plan.ways || !plan.ways->clusters[cluster].has_switch) return false;
  const auto& links = plan.ways->links;
  return std::any_of(links.lower_bound({cluster, 0}), links.lower_bound({cluster + 1, 0}),
                     [](const auto& link) { return !link.second.is_null(); });
}

bool way_leads_through(const Plan& plan, std::uint32_t from, std::uint32_t to,
                       std::uint32_t place) {
  for (std::uint32_t at = from; at != to;) {
    const Hop hop = next_hop(plan, at, to);
    const bool has_switch = hop.across.is_there();
    if (hop.to == place || (has_switch && switch_number(plan, plan.hosts[at].cluster) == place))
      return true;
    at = hop.to;
  }
  return false;
}

std::set<std::uint32_t> lane_neighbours(const Plan& plan, std::uint32_t place,
                                        const std::vector<std::uint32_t>& hosts) {
  const auto switches = static_cast<std::uint32_t>(plan.hosts.size());
  std::set<std::uint32_t> neighbours;
  for (const std::uint32_t host : hosts) {
    const std::uint32_t there = plan.hosts[host].cluster;
    if (place >= switches) {
      const std::uint32_t here = place - switches;
      if (here == there)
        neighbours.insert(host);
      else if (plan.ways->links.contains({here, there}))
        neighbours.insert(crossing(plan, here, host).to);
    } else if (missing_way(plan, place, host).empty()) {
      const Hop hop = next_hop(plan, place, host);
      neighbours.insert(hop.across.is_there() ? switch_number(plan, plan.hosts[place].cluster)
                                              : hop.to);
    }
  }
  neighbours.erase(place);
  return neighbours;
}

std::set<std::uint32_t> lane_neighbours(const Plan& plan, std::uint32_t place) {
  std::vector<std::uint32_t> all(plan.hosts.size());
  std::iota(all.begin(), all.end(), 0);
  return lane_neighbours(plan, place, all);
}

std::string switch_address(const Plan& plan, std::uint32_t cluster) {
  const std::string& neighbour = plan.hosts[exit_of(plan, cluster)].address;
  auto parts = base::parse_address(neighbour);
  // The file name contains a ':', which no host name can contain.
  if (!parts || !parts->transport->is_network)
    return fmt::format("{}/switch:{}", neighbour.substr(0, neighbour.rfind('/')),
                       plan.clusters[cluster]);
  std::uint64_t port = 1;
  for (const Plan::PlanHost& host : plan.hosts) port = std::max(port, port_of(host.address) + 1);
  for (std::uint32_t before = 0; before < cluster; ++before)
    if (is_switch_emulated(plan, before)) ++port;
  if (port > base::port_max)
    throw std::invalid_argument(
        fmt::format("the switch of {} listens at the next port beyond those of all hosts, but "
                    "there is none beyond {}; give the hosts lower ones",
                    plan.clusters[cluster], base::port_max));
  parts->port = port;
  return parts->text();
}

std::string place_text(const Plan& plan, std::uint32_t place) {
  const std::string name = place_name(plan, place);
  return place < plan.hosts.size() ? "host " + name : name;
}

}  // namespace paths
