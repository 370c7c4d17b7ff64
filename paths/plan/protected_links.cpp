// SPDX-License-Identifier: Apache-2.0
// paths/plan/protected_links.cpp — ports of the listeners for links with `security: network`
#include "paths/plan/protected_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/address.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/ways.hpp"

namespace paths {
namespace {

/// Returns whether hosts of the cluster connect to some other cluster without encryption.
bool has_protected_link(const Plan& plan, std::uint32_t cluster) {
  const auto& links = plan.protected_links;
  return std::any_of(links.begin(), links.end(), [cluster](const auto& link) {
    return link.first == cluster || link.second == cluster;
  });
}

}  // namespace

std::vector<std::string> protected_addresses(const Plan& plan) {
  if (plan.protected_links.empty() || !plan.encrypts_between(0, 0)) return {};
  std::vector<std::optional<base::Address>> all;
  for (const Plan::PlanHost& host : plan.hosts) all.push_back(base::parse_address(host.address));
  for (std::uint32_t cluster = 0; cluster < plan.clusters.size(); ++cluster)
    all.push_back(is_switch_emulated(plan, cluster)
                      ? base::parse_address(switch_address(plan, cluster))
                      : std::nullopt);
  std::uint64_t lowest = base::port_max, highest = 0;
  for (const auto& address : all) {
    if (!address) continue;
    lowest = std::min(lowest, address->port);
    highest = std::max(highest, address->port);
  }
  std::vector<std::string> second(all.size());
  for (std::uint32_t place = 0; place < all.size(); ++place) {
    const bool is_host = place < plan.hosts.size();
    const std::uint32_t cluster =
        is_host ? plan.hosts[place].cluster : place - switch_number(plan, 0);
    if (!all[place] || !has_protected_link(plan, cluster)) continue;
    all[place]->port += highest + 1 - lowest;
    if (all[place]->port > base::port_max)
      throw std::invalid_argument(
          fmt::format("{} needs a second port, for its links with `security: network`, but {} is "
                      "beyond {}; give the hosts lower ports",
                      place_text(plan, place), all[place]->port, base::port_max));
    second[place] = all[place]->text();
  }
  return second;
}

}  // namespace paths
