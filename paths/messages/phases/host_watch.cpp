// SPDX-License-Identifier: Apache-2.0
// paths/messages/phases/host_watch.cpp — search for silent hosts and for overdue reports of hosts
#include "paths/messages/phases/host_watch.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "paths/plan/exits.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

void HostWatch::look_at_all() {
  const Plan& plan = *state_.plan;
  const std::uint32_t here = state_.cluster();
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (plan.hosts[host].cluster == here && host != state_.host && !parts_.lost.has(host))
      state_.post(state_.control(LaneKind::look, host, 0));
  for (std::size_t round = 0;; ++round) {
    const auto sources = clusters_in_round(plan, here, round, false);
    if (sources.empty()) return;
    for (const std::uint32_t cluster : sources)
      if (const std::uint32_t exit = exit_of(plan, cluster);
          missing_way(plan, state_.host, exit).empty() && !parts_.lost.has(exit))
        state_.post(state_.control(LaneKind::look, exit, 0));
  }
}

void HostWatch::lose_silent(runtime::Lock& lock, base::Nanos silent_max) {
  lock.unlock();
  const std::map<std::uint32_t, std::string> silent = state_.carrier.look_after(silent_max);
  lock.lock();
  for (const auto& [place, why] : silent) {
    if (parts_.clock.is_stopped()) return;
    parts_.membership.lose_and_notify_exit(place, why);
    parts_.clock.settle_and_lock(lock);
  }
}

void HostWatch::lose_overdue(base::Nanos longest) {
  const base::Nanos now = state_.runtime.now();
  std::map<std::uint32_t, base::Nanos> overdue;
  for (const std::uint32_t host : parts_.ends.awaited()) {
    if (state_.carrier.end_progress(host) < parts_.ends.progress_needed(host)) continue;
    const auto known = overdue_.find(host);
    overdue[host] = known == overdue_.end() ? now : known->second;
  }
  overdue_ = std::move(overdue);
  for (const auto& [host, since] : std::map(overdue_))
    if (now - since >= longest / 2)
      parts_.membership.lose(
          host,
          fmt::format(
              "it reports that threads have ended, but the message about it has not arrived for {}",
              base::format_time(longest / 2)));
}

}  // namespace paths
