// SPDX-License-Identifier: Apache-2.0
// paths/messages/lost_hosts.cpp — which ways are cut.
#include "paths/messages/lost_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

void LostHosts::note_first(std::uint32_t host, const std::string& why) {
  if (first_text_.empty())
    first_text_ = fmt::format("{} is gone: {}", place_text(*site_.plan, host), why);
}

std::optional<std::uint32_t> LostHosts::on_way_to(std::uint32_t target) const {
  for (const auto& [place, why] : lost_)
    if (place == target ||
        (!site_.is_switch() && way_leads_through(*site_.plan, site_.host, target, place)))
      return place;
  return std::nullopt;
}

bool LostHosts::has_cluster(std::uint32_t cluster) const {
  const Plan& plan = *site_.plan;
  const std::uint32_t exit = exit_of(plan, cluster);
  return has(exit) || !missing_way(plan, site_.host, exit).empty() ||
         !missing_way(plan, exit, site_.host).empty() || is_behind_switch(exit);
}

bool LostHosts::is_behind_switch(std::uint32_t host) const {
  const Plan& plan = *site_.plan;
  return std::any_of(lost_.begin(), lost_.end(), [&](const auto& lost) {
    const std::uint32_t place = lost.first;
    return place >= plan.hosts.size() && (way_leads_through(plan, site_.host, host, place) ||
                                          way_leads_through(plan, host, site_.host, place));
  });
}

}  // namespace paths
