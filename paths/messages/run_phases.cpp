// SPDX-License-Identifier: Apache-2.0
// paths/messages/run_phases.cpp — waiting for all hosts at the beginning and at the end of a run
#include "paths/messages/run_phases.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <utility>

#include "paths/plan/exits.hpp"
#include "paths/plan/ways.hpp"

namespace paths {
namespace {

/// Number of checks of silent and overdue hosts within one deadline.
constexpr std::uint32_t looks_in_a_deadline = 4;
/// Longest silence of a host behind a switch before it counts as lost, in deadlines.
constexpr int deadlines_of_switch = 2;
/// Longest wait at the end of a run that has failed, for silent hosts and for unsent frames.
constexpr base::Nanos parting_time = std::chrono::seconds(1);
constexpr base::Nanos first_notice_after = std::chrono::seconds(5);

}  // namespace

/// Calls MessageClock::settle(), then locks the mutex again.
void RunPhases::settle(runtime::Lock& lock) {
  parts_.clock.settle(lock);
  if (!lock.owns_lock()) lock.lock();
}

// ---- the beginning ----------------------------------------------------------------------------

void RunPhases::begin() {
  runtime::Lock lock(state_.mutex);
  begins_by_ = runtime::Deadline::written_at(state_.runtime.now() + 2 * state_.plan->deadline);
  parts_.arrivals.begin();
  parts_.arrivals.resume();
  parts_.clock.settle(lock);
}

void RunPhases::await_all() {
  const base::Nanos begun = state_.runtime.now();
  base::Nanos pause = first_notice_after, next_word = begun + pause;
  runtime::Lock lock(state_.mutex);
  while (parts_.arrivals.is_here() && !parts_.arrivals.is_everywhere() &&
         state_.runtime.now() < begins_by_.at) {
    const auto until = runtime::Deadline::written_at(std::min(next_word, begins_by_.at));
    if (parts_.arrivals.wait(lock, until, "all hosts of the run at") == runtime::Woken::notified ||
        state_.runtime.now() < next_word)
      continue;
    const std::string text = parts_.arrivals.awaited_text();
    lock.unlock();
    if (!text.empty())
      spdlog::warn("host {} has waited {} for {}", state_.name,
                   base::format_time(next_word - begun), text);
    lock.lock();
    pause *= 2;
    next_word += pause;
  }
}

// ---- the end ----------------------------------------------------------------------------------

std::string RunPhases::finish(bool has_failed) {
  runtime::Lock lock(state_.mutex);
  if (state_.is_switch())
    finish_switch(lock);
  else if (!state_.plan->lanes.is_written)
    forward_for_neighbours(lock, has_failed);
  drain(lock, has_failed);
  if (!state_.is_switch() && state_.plan->lanes.is_written && state_.plan->hosts.size() > 1)
    finish_host(lock, has_failed);
  return wrong_;
}

/// Used without the key `lanes`. If this host is the exit of its cluster, waits for the end of
/// those hosts of the cluster with which it has exchanged frames. Their last messages may reach
/// this host only after the paths through this host were released.
void RunPhases::forward_for_neighbours(runtime::Lock& lock, bool has_failed) {
  for (runtime::Deadline look = next_look(has_failed);
       parts_.membership.forwards_for_neighbours();) {
    if (parts_.clock.wait_for_quiet(lock, look, "the end of hosts for which it forwards at") ==
        runtime::Woken::notified)
      continue;
    look = next_look(has_failed);
    if (!state_.runtime.is_virtual()) lose_silent(lock, end_time(has_failed));
  }
}

void RunPhases::finish_host(runtime::Lock& lock, bool has_failed) {
  parts_.ends.begin();
  parts_.control.end_threads();
  parts_.ends.resume();
  if (state_.host == exit_of(*state_.plan, state_.cluster()) && !state_.runtime.is_virtual())
    look_at_all();
  settle(lock);
  await_end(lock, has_failed);
  drain(lock, has_failed);
  // If the program has received the error and continued, the loss is not reported again.
  if (!parts_.lost.first_text().empty() && !parts_.failures.is_delivered())
    note_wrong(parts_.lost.first_text());
}

void RunPhases::drain(runtime::Lock& lock, bool has_failed) {
  const runtime::Deadline limit =
      has_failed && !state_.runtime.is_virtual()
          ? runtime::Deadline::written_at(state_.runtime.now() + end_time(has_failed))
          : state_.deadline();
  if (parts_.clock.drain(lock, limit)) return;
  note_wrong(fmt::format("messages from here were not delivered before the deadline of {}",
                         base::format_time(end_time(has_failed))));
}

/// Records an error, unless one was recorded before.
void RunPhases::note_wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = fmt::format("host {}: {}", state_.name, what);
}

void RunPhases::await_end(runtime::Lock& lock, bool has_failed) {
  for (runtime::Deadline look = next_look(has_failed); !parts_.ends.is_everywhere();) {
    if (parts_.ends.wait(lock, look, "the end of all threads at") == runtime::Woken::notified)
      continue;
    look = next_look(has_failed);
    if (state_.runtime.is_virtual()) continue;
    lose_silent(lock, end_time(has_failed));
    lose_overdue(end_time(has_failed));
    settle(lock);
  }
}

runtime::Deadline RunPhases::next_look(bool has_failed) const {
  if (state_.runtime.is_virtual()) return state_.deadline();
  return runtime::Deadline::written_at(state_.runtime.now() +
                                       end_time(has_failed) / looks_in_a_deadline);
}

/// Returns the longest silence of another host at the end of the run before it counts as lost. It
/// is also the longest wait for frames that cannot be sent.
base::Nanos RunPhases::end_time(bool has_failed) const {
  return has_failed ? std::min(state_.plan->deadline, parting_time) : state_.plan->deadline;
}

/// Asks all hosts for a sign of life. Hosts that were silent for `silent_max` count as lost.
void RunPhases::lose_silent(runtime::Lock& lock, base::Nanos silent_max) {
  lock.unlock();
  const std::map<std::uint32_t, std::string> silent = state_.carrier.look_after(silent_max);
  lock.lock();
  for (const auto& [place, why] : silent) {
    if (parts_.clock.is_stopped()) return;
    parts_.membership.lose_and_notify_exit(place, why);
    settle(lock);
  }
}

/// Counts a host as lost if the report of its end is overdue. Such a host states in its signs of
/// life that it has sent the report, but the report has not arrived within half of `longest`.
/// Without this function, both hosts would wait for ever.
void RunPhases::lose_overdue(base::Nanos longest) {
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
              base::format_time(state_.plan->deadline)));
}

/// Opens connections to hosts with which this host has exchanged no frames. Without a connection,
/// this host would not notice the loss of such a host.
void RunPhases::look_at_all() {
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

/// Waits for the hosts of this switch. Only the switch can notice that hosts behind it are silent.
void RunPhases::finish_switch(runtime::Lock& lock) {
  const Plan& plan = *state_.plan;
  const std::string limit_text = base::format_time(plan.deadline);
  for (runtime::Deadline limit = state_.deadline(); !parts_.ends.is_everywhere();) {
    if (parts_.ends.wait(lock, limit, "the end of all hosts at") == runtime::Woken::notified)
      continue;
    limit = state_.deadline();
    lose_silent(lock, deadlines_of_switch * plan.deadline);
    for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
      if (switch_number(plan, plan.hosts[host].cluster) != state_.host) continue;
      if (parts_.membership.has_neighbour(host) || parts_.ends.has(host)) continue;
      spdlog::warn("{}: host {} has not arrived for {}", state_.name, plan.hosts[host].name,
                   limit_text);
      parts_.ends.note_host(host);
    }
    parts_.ends.look_at_hosts();
  }
}

}  // namespace paths
