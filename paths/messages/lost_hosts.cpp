// SPDX-License-Identifier: Apache-2.0
// paths/messages/lost_hosts.cpp — lost hosts, and the routes that their loss cuts
#include "paths/messages/lost_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

void LostHosts::note_first(std::uint32_t host, const std::string& why) {
  if (first_text_.empty())
    first_text_ = fmt::format("{} is gone: {}", place_text(*state_.plan, host), why);
}

std::optional<std::uint32_t> LostHosts::on_way_to(std::uint32_t target) const {
  for (const auto& [place, why] : lost_)
    if (place == target ||
        (!state_.is_switch() && way_leads_through(*state_.plan, state_.host, target, place)))
      return place;
  return std::nullopt;
}

bool LostHosts::has_cluster(std::uint32_t cluster) const {
  const Plan& plan = *state_.plan;
  const std::uint32_t exit = exit_of(plan, cluster);
  return has(exit) || !missing_way(plan, state_.host, exit).empty() ||
         !missing_way(plan, exit, state_.host).empty() || is_behind_switch(exit);
}

bool LostHosts::is_behind_switch(std::uint32_t host) const {
  const Plan& plan = *state_.plan;
  return std::any_of(lost_.begin(), lost_.end(), [&](const auto& lost) {
    const std::uint32_t place = lost.first;
    return place >= plan.hosts.size() && (way_leads_through(plan, state_.host, host, place) ||
                                          way_leads_through(plan, host, state_.host, place));
  });
}

}  // namespace paths
