// SPDX-License-Identifier: Apache-2.0
// paths/messages/phases/run_phases.cpp — waiting for all hosts at the beginning and at the end of a
// run
#include "paths/messages/phases/run_phases.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "paths/plan/exits.hpp"
#include "runtime/continuation.hpp"

namespace paths {
namespace {

/// Number of checks of silent and overdue hosts within one deadline.
constexpr std::uint32_t looks_in_a_deadline = 4;
/// Longest silence of a host behind a switch before the host counts as lost, in deadlines.
constexpr int deadlines_of_switch = 2;
/// Longest wait for a silent host, or for unsent frames, at the end of a run that has failed.
constexpr base::Nanos parting_time = std::chrono::seconds(1);
constexpr base::Nanos first_notice_after = std::chrono::seconds(5);

}  // namespace

RunPhases::RunPhases(const Parts& parts) : parts_(parts), state_(parts.state) {
  if (state_.is_switch() || state_.watches_hosts())
    watch_.emplace(HostWatch::Parts{state_, parts.lost, parts.membership, parts.ends, parts.clock});
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

/// Lets this host forward the last messages of other hosts if it is the exit of its cluster. Waits
/// until all hosts of the cluster with which this host has exchanged frames have ended. finish()
/// calls this function if the config has no key `lanes`.
/// Why: the last messages of these hosts may arrive after the paths through this host were
///      released.
void RunPhases::forward_for_neighbours(runtime::Lock& lock, bool has_failed) {
  for (runtime::Deadline look = next_look(has_failed);
       parts_.membership.forwards_for_neighbours();) {
    if (parts_.clock.wait_for_quiet(lock, look, "the end of hosts for which it forwards at") ==
        runtime::Woken::notified)
      continue;
    look = next_look(has_failed);
    if (watch_) watch_->lose_silent(lock, end_time(has_failed));
  }
}

void RunPhases::finish_host(runtime::Lock& lock, bool has_failed) {
  parts_.ends.begin();
  parts_.control.end_threads();
  parts_.ends.resume();
  if (watch_ && state_.host == exit_of(*state_.plan, state_.cluster())) watch_->look_at_all();
  parts_.clock.settle_and_lock(lock);
  await_end(lock, has_failed);
  drain(lock, has_failed);
  // Reports the first loss, except if a send or receive has failed before. In that case the program
  // has already received an error.
  if (!parts_.lost.first_text().empty() && !parts_.failures.is_delivered())
    note_wrong(parts_.lost.first_text());
}

void RunPhases::drain(runtime::Lock& lock, bool has_failed) {
  if (parts_.clock.drain(lock, deadline_after(end_time(has_failed)))) return;
  note_wrong(fmt::format("messages from here were not delivered before the deadline of {}",
                         base::format_time(end_time(has_failed))));
}

/// Records an error, unless an error was recorded before.
void RunPhases::note_wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = fmt::format("host {}: {}", state_.name, what);
}

void RunPhases::await_end(runtime::Lock& lock, bool has_failed) {
  for (runtime::Deadline look = next_look(has_failed); !parts_.ends.is_everywhere();) {
    if (parts_.ends.wait(lock, look, "the end of all threads at") == runtime::Woken::notified)
      continue;
    look = next_look(has_failed);
    if (!watch_) continue;
    watch_->lose_silent(lock, end_time(has_failed));
    watch_->lose_overdue(end_time(has_failed));
    parts_.clock.settle_and_lock(lock);
  }
}

runtime::Deadline RunPhases::next_look(bool has_failed) const {
  return deadline_after(end_time(has_failed) / looks_in_a_deadline);
}

/// Returns the deadline of a wait that ends after `span` at the latest. On the virtual clock, only
/// a deadline in the config ends a wait, because waiting longer makes no difference there.
runtime::Deadline RunPhases::deadline_after(base::Nanos span) const {
  return runtime::sooner(state_.runtime, state_.deadline(),
                         runtime::Deadline::default_at(state_.runtime.now() + span));
}

/// Returns the longest silence of another host, at the end of the run, before the host counts as
/// lost. The returned duration is also the longest wait for frames that cannot be sent.
base::Nanos RunPhases::end_time(bool has_failed) const {
  return has_failed ? std::min(state_.plan->deadline, parting_time) : state_.plan->deadline;
}

/// Waits for the end of the hosts of this switch. Counts silent hosts as lost, because only the
/// switch can notice that a host behind it is silent.
void RunPhases::finish_switch(runtime::Lock& lock) {
  const Plan& plan = *state_.plan;
  const std::string limit_text = base::format_time(plan.deadline);
  for (runtime::Deadline limit = state_.deadline(); !parts_.ends.is_everywhere();) {
    if (parts_.ends.wait(lock, limit, "the end of all hosts at") == runtime::Woken::notified)
      continue;
    limit = state_.deadline();
    watch_->lose_silent(lock, deadlines_of_switch * plan.deadline);
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
