// SPDX-License-Identifier: Apache-2.0
// paths/messages/membership.cpp — neighbours of a host, and handling of losses and ends of hosts
#include "paths/messages/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/exits.hpp"
#include "paths/plan/ways.hpp"

namespace paths {
namespace {

/// Longest wait for a sign of life from a host whose loss another host has reported.
constexpr base::Nanos longest_verification = std::chrono::seconds(2);

}  // namespace

void Membership::note_neighbour(std::uint32_t place, std::uint32_t end) {
  EndpointState& state = parts_.state;
  const Plan& plan = *state.plan;
  const bool is_host = place < plan.hosts.size();
  const bool leads_on =
      !state.is_switch() && end < plan.hosts.size() && end != state.host && state.leads_to(end);
  if (!is_host && !leads_on) return;
  const std::uint32_t neighbour = is_host ? place : next_hop(plan, state.host, end).to;
  if (!neighbours_.insert(neighbour).second || state.is_switch() || !tells_of_losses()) return;
  for (const auto& [host, why] : parts_.lost.all())
    if (!parts_.lost.has_ended(host) && !parts_.lost.has(neighbour))
      state.post(state.lost_frame(neighbour, host, why));
}

void Membership::look_at_neighbours() {
  EndpointState& state = parts_.state;
  const Plan& plan = *state.plan;
  const auto hosts = static_cast<std::uint32_t>(plan.hosts.size());
  const auto clusters = static_cast<std::uint32_t>(plan.clusters.size());
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    const bool is_mine = !state.is_switch() && state.cluster() == cluster;
    const bool is_reached =
        state.is_switch() && plan.ways->links.contains({state.host - hosts, cluster});
    if (!is_mine && !is_reached) continue;
    const bool has_switch = is_switch_emulated(plan, cluster);
    if (is_mine && !has_switch) continue;
    const std::uint32_t place = has_switch ? switch_number(plan, cluster) : exit_of(plan, cluster);
    if (state.is_switch()) neighbours_.insert(place);
    state.post_to_neighbour(place, state.control(LaneKind::look, place, 0));
  }
}

bool Membership::forwards_for_neighbours() const {
  const EndpointState& state = parts_.state;
  const Plan& plan = *state.plan;
  if (state.is_switch() || plan.clusters.size() < 2 || !plan.ways) return false;
  const Ways::Cluster& mine = plan.ways->clusters[state.cluster()];
  if (mine.has_switch || mine.exit != state.host) return false;
  return std::any_of(neighbours_.begin(), neighbours_.end(), [&](std::uint32_t neighbour) {
    return plan.hosts[neighbour].cluster == state.cluster() && !parts_.lost.has(neighbour);
  });
}

/// Counts a host as lost. Does nothing and returns false in three cases: the loss was known
/// already, `host` is this host, or the threads of all hosts have ended.
bool Membership::count_out(std::uint32_t host, const std::string& why) {
  if (host == parts_.state.host || parts_.ends.is_everywhere() || !parts_.lost.add(host, why))
    return false;
  for (const auto& [id, group] : parts_.groups.all())
    parts_.failures.end_lanes_over(*group, host, why);
  if (parts_.state.is_switch()) {
    parts_.ends.look_at_hosts();
  } else {
    parts_.arrivals.resume();
    parts_.ends.resume();
  }
  return true;
}

/// Returns whether this host reports losses to its neighbours. If there is only one cluster, and
/// the config has no key `lanes`, no report is needed. Each host then notices the losses that
/// concern it without a report.
bool Membership::tells_of_losses() const {
  return parts_.state.plan->clusters.size() > 1 || parts_.state.plan->lanes.is_written;
}

void Membership::lose(std::uint32_t host, const std::string& why) {
  EndpointState& state = parts_.state;
  if (host != state.host) state.carrier.forget(host);
  if (!count_out(host, why)) return;
  parts_.lost.note_first(host, why);
  if (!tells_of_losses()) return;
  for (const std::uint32_t neighbour : neighbours_) {
    if (parts_.lost.has(neighbour) || (state.is_switch() && parts_.ends.has(neighbour))) continue;
    tell(neighbour, state.lost_frame(neighbour, host, why));
  }
}

void Membership::lose_and_notify_exit(std::uint32_t host, const std::string& why) {
  const bool is_news = !parts_.lost.has(host);
  lose(host, why);
  if (is_news) notify_exit(host, why);
}

/// Reports a lost host to the exit of this cluster. Reports nothing after the threads of all hosts
/// have ended, because hosts then end one after the other.
void Membership::notify_exit(std::uint32_t host, const std::string& why) {
  EndpointState& state = parts_.state;
  if (state.is_switch() || !state.watches_hosts() || !state.plan->lanes.is_written ||
      parts_.ends.is_everywhere())
    return;
  const std::uint32_t exit = exit_of(*state.plan, state.cluster());
  if (exit != state.host && !parts_.lost.has(exit)) tell(exit, state.lost_frame(exit, host, why));
}

void Membership::note_end(std::uint32_t host) {
  if (parts_.state.is_switch()) {
    parts_.ends.note_host(host);
    parts_.ends.look_at_hosts();
    // The switch itself continues: it ends when no more frames pass through it.
  } else if (host < parts_.state.plan->hosts.size()) {
    if (count_out(host, "it has ended")) parts_.lost.mark_ended(host);
  }
}

void Membership::report_loss(std::uint32_t from, const LaneFrame& frame) {
  EndpointState& state = parts_.state;
  const auto place = parts_.lost.on_way_to(frame.target);
  if (!place || parts_.lost.has_ended(*place)) return;
  const std::string& why = parts_.lost.all().at(*place);
  if (state.is_switch())
    tell(from, state.lost_frame(from, *place, why));
  else if (missing_way(*state.plan, state.host, frame.source).empty())
    state.post(state.lost_frame(frame.source, *place, why));
}

/// Sends a frame to a neighbour. If this is a switch, the frame crosses no emulated link.
void Membership::tell(std::uint32_t place, LaneFrame frame) {
  if (parts_.state.is_switch())
    parts_.state.post_to_neighbour(place, std::move(frame));
  else
    parts_.state.post(std::move(frame));
}

bool Membership::is_of_neighbour(std::uint32_t from, const LaneFrame& frame) const {
  const bool is_with_switch = parts_.state.is_switch() || from >= parts_.state.plan->hosts.size();
  return is_with_switch && frame.source == from && frame.target == parts_.state.host &&
         (frame.kind == LaneKind::look || frame.kind == LaneKind::lost);
}

void Membership::take_of_neighbour(const LaneFrame& frame) {
  EndpointState& state = parts_.state;
  if (state.is_switch()) {
    neighbours_.insert(frame.source);
    // The neighbour may have arrived late, so the switch waits for its end again. A neighbour that
    // asks for a sign of life is new, and receives the reports of earlier losses.
    parts_.ends.forget_host(frame.source);
    for (const auto& [place, why] : parts_.lost.all())
      if (frame.kind == LaneKind::look && place != frame.source)
        tell(frame.source, state.lost_frame(frame.source, place, why));
  }
  if (frame.kind == LaneKind::lost) take_loss(frame);
}

void Membership::take_loss(const LaneFrame& frame) {
  EndpointState& state = parts_.state;
  const Plan& plan = *state.plan;
  if (frame.bytes >= plan.hosts.size() + plan.clusters.size()) return;
  const auto place = static_cast<std::uint32_t>(frame.bytes);
  if (place == state.host || parts_.lost.has(place)) return;
  const std::string why = fmt::format("{} (says {})", frame.text, place_text(plan, frame.source));
  if (!state.watches_hosts() || may_know(frame.source, place)) return lose(place, why);
  const bool is_reached = place < plan.hosts.size() && !state.is_switch() &&
                          missing_way(plan, state.host, place).empty() &&
                          next_hop(plan, state.host, place).to == place;
  // Another switch may report the loss of this host's own switch. This host ignores such a report,
  // because it notices the end of its own switch without a report.
  if (!state.is_switch() && place == switch_number(plan, state.cluster())) return;
  if (!is_reached)
    return state.reject(frame.source, fmt::format("the loss of {}, of which it cannot know",
                                                  place_text(plan, place)));
  if (asked_.insert(place).second) verify_loss(frame.source, place, why);
}

/// Returns whether `source` can know of the loss of `place` before this host does. It can if it is
/// `place` itself, or if it is the exit or switch of the cluster of `place` or of this host's
/// cluster. Any host can know of the loss of the switch of its cluster.
bool Membership::may_know(std::uint32_t source, std::uint32_t place) const {
  const EndpointState& state = parts_.state;
  const Plan& plan = *state.plan;
  const auto hosts = static_cast<std::uint32_t>(plan.hosts.size());
  const auto cluster_of = [&](std::uint32_t one) {
    return one < hosts ? plan.hosts[one].cluster : one - hosts;
  };
  const std::uint32_t near = cluster_of(source);
  if (source == place) return true;
  if (source < hosts && exit_of(plan, near) != source)
    return place >= hosts && near == cluster_of(place);  // `source` notices the end of its switch
  return near == cluster_of(place) || near == cluster_of(state.host);
}

/// Asks `host`, whose loss `source` has reported, for a sign of life. If no sign of life arrives in
/// time, counts `host` as lost. If a sign of life arrives, ignores the report. This host then has a
/// connection to `host`, and will notice the end of `host` without a report.
void Membership::verify_loss(std::uint32_t source, std::uint32_t host, const std::string& why) {
  EndpointState& state = parts_.state;
  state.post(state.control(LaneKind::look, host, 0));
  const base::Nanos pause = std::min(state.plan->deadline / 4, longest_verification);
  state.due_queue.put_check(state.runtime.now() + pause, [this, source, host, why] {
    asked_.erase(host);
    if (parts_.lost.has(host)) return;
    if (!parts_.state.carrier.has_heard(host)) return lose(host, why);
    parts_.state.reject(
        source, fmt::format("the loss of {}, which lives", place_text(*parts_.state.plan, host)));
  });
}

}  // namespace paths
