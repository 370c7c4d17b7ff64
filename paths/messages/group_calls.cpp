// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_calls.cpp — calls that join, use and leave a group by its id
#include "paths/messages/group_calls.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "paths/plan/emulated_switches.hpp"
#include "runtime/continuation.hpp"

namespace paths {
namespace {

/// Largest number of hosts in a group in which each host issues credit to all other hosts when it
/// joins. In larger groups, a source must ask for credit.
constexpr std::size_t notified_hosts_max = 64;
/// Largest size of frames with which sending from lent memory is recommended (is_paced()). Such a
/// frame is copied while the mutex of the endpoint is held.
constexpr std::uint64_t lent_frame_bytes_max = std::uint64_t{1} << 20;

}  // namespace

/// Joins a group. First processes the frames of the group that arrived before this call, then ends
/// the lanes that need a lost host.
/// Why: a lost host may have left the group before its loss and have given a reason. In this order,
///      errors contain the reason that the host gave.
std::uint64_t GroupCalls::join(std::string_view name, SharedHosts hosts,
                               const GroupOptions& options) {
  runtime::Lock lock(state_.mutex);
  GroupState& group = parts_.groups.add(name, std::move(hosts), options);
  const std::uint64_t id = group.id;
  if (group.hosts->size() <= notified_hosts_max)
    for (const std::uint32_t peer : *group.hosts)
      if (peer != state_.host) parts_.credit.issue(group, peer);
  parts_.control.take_early(id);
  for (const auto& [host, why] : std::map(parts_.lost.all()))
    parts_.failures.end_lanes_over(group, host, why);
  parts_.clock.settle(lock);
  return id;
}

// ---- sends ------------------------------------------------------------------------------------

void GroupCalls::send(std::uint64_t id, std::uint32_t to, const NamedMessage& which,
                      base::Payload message, const std::shared_ptr<LaneWait>& wait) {
  runtime::Lock lock(state_.mutex);
  GroupState& group = parts_.groups.joined(id);
  parts_.failures.compare_signatures(group, which.channel, {which.signature_digest, state_.host});
  if (const auto over = group.over.find(to); over != group.over.end()) {
    parts_.failures.fail(group, to, {wait}, over->second);
  } else if (const GroupState::Failed* const failed = group.failure_of(which.channel)) {
    parts_.failures.fail_as_said({wait}, failed->why, failed->cause);
  } else {
    OutboundChannel& lane = group.lane_to(to);
    const bool asks =
        group.hosts->size() > notified_hosts_max && !std::exchange(lane.has_asked, true);
    if (asks) state_.post(state_.control(LaneKind::ask, to, id));
    parts_.outgoing.send(lane, which, std::move(message), wait);
  }
  parts_.clock.settle(lock);
}

bool GroupCalls::is_paced(std::uint32_t to) {
  const std::uint64_t frame = state_.plan->lanes.frame_bytes;
  if (frame == 0 || frame > lent_frame_bytes_max) return false;
  const runtime::Lock lock(state_.mutex);
  if (state_.link_scheduler.link_to(to) != nullptr) return true;
  return parts_.outgoing.can_carrier_fill_up() && !state_.link_scheduler.waits_for_streams(to) &&
         state_.carrier.reports_room(state_.link_scheduler.next_host(to));
}

/// Requests work of the duration `time` from the processor.
void GroupCalls::work(base::Nanos time, std::uint64_t order,
                      const std::shared_ptr<LaneWait>& wait) {
  runtime::Lock lock(state_.mutex);
  const auto request = [this, time, wait] {
    const auto end = [this, wait] { state_.ended.push_back(wait); };
    if (state_.processor == nullptr)
      state_.due_queue.put(state_.runtime.now(), end);
    else
      state_.processor->work(time, tuning::WorkKind::step, end);
  };
  state_.due_queue.put(state_.runtime.now(), request, Turn::choices, order);
  parts_.clock.settle(lock);
}

void GroupCalls::let_go(LaneWait& wait) {
  const runtime::Lock lock(state_.mutex);
  wait.is_abandoned = true;
}

// ---- receives ---------------------------------------------------------------------------------

void GroupCalls::receive(std::uint64_t id, std::uint32_t from, const NamedMessage& which,
                         const std::shared_ptr<LaneWait>& wait) {
  runtime::Lock lock(state_.mutex);
  GroupState& group = parts_.groups.joined(id);
  parts_.failures.compare_signatures(group, which.channel, {which.signature_digest, state_.host});
  if (const GroupState::Failed* const failed = group.failure_of(which.channel)) {
    parts_.failures.fail_as_said({wait}, failed->why, failed->cause);
    return parts_.clock.settle(lock);
  }
  InboundChannel& lane = parts_.credit.lane_from(group, from);
  const InboundChannel::Asked asked = lane.receive(which, wait);
  const auto over = group.over.find(from);
  if (asked.is_complete)
    state_.ended.push_back(wait);
  else if (over != group.over.end() && lane.is_over())
    parts_.failures.fail(group, from, lane.take_waiting(), over->second);
  else
    parts_.credit.ask_for(group, from, lane, which, asked.name);
  parts_.credit.issue_returned(group, from);
  parts_.clock.settle(lock);
}

// ---- channels ---------------------------------------------------------------------------------

std::shared_ptr<EndedChannels> GroupCalls::ended_channels(std::uint64_t id) {
  const runtime::Lock lock(state_.mutex);
  return parts_.groups.joined(id).ended;
}

void GroupCalls::close(std::uint64_t id, std::uint64_t channel,
                       std::shared_ptr<const std::string> what, std::uint64_t signature_digest) {
  runtime::Lock lock(state_.mutex);
  GroupState* const group = parts_.groups.find(id);
  if (group == nullptr || group->is_closed(channel)) return;
  if (signature_digest != 0) group->note_purpose(channel, signature_digest);
  group->close({channel, channel}, std::move(what));
  for (auto& [peer, lane] : group->in) parts_.credit.issue_returned(*group, peer);
  parts_.clock.settle(lock);
}

void GroupCalls::fail(std::uint64_t id, const Channels& which, const std::string& why,
                      FailureCause cause) {
  runtime::Lock lock(state_.mutex);
  GroupState* const group = parts_.groups.find(id);
  if (group == nullptr) return;
  parts_.failures.fail_channels(*group, which, why, cause);
  parts_.clock.settle(lock);
}

void GroupCalls::ask(std::uint64_t id, const LaneQuestion& question) {
  runtime::Lock lock(state_.mutex);
  GroupState* const group = parts_.groups.find(id);
  if (group == nullptr) return;
  parts_.control.ask(*group, question);
  parts_.clock.settle(lock);
}

// ---- leaving groups ---------------------------------------------------------------------------

EndpointState::Waits GroupCalls::unsent(std::uint64_t id) {
  const runtime::Lock lock(state_.mutex);
  EndpointState::Waits waits;
  for (auto& [target, lane] : parts_.groups.joined(id).out)
    lane.for_each([&](const OutboundChannel::Channel& channel) {
      channel.for_each([&](const OutboundChannel::Message& message) {
        if (!message.wait->is_abandoned) waits.push_back(message.wait);
      });
    });
  return waits;
}

void GroupCalls::leave(std::uint64_t id, const std::string& why, const Participation& part) {
  runtime::Lock lock(state_.mutex);
  GroupState* const group = parts_.groups.find(id);
  if (group == nullptr) return;
  std::set<std::uint32_t> peers;
  for (const auto& [peer, lane] : group->out) peers.insert(peer);
  for (const auto& [peer, lane] : group->in) peers.insert(peer);
  const std::string cause = part.signature_digest == 0 ? cause_of_leaving(*group) : "";
  for (const std::uint32_t peer : peers) {
    LaneFrame left = parts_.control.farewell(peer, id, part);
    if (!why.empty() || !cause.empty()) left.text = why.empty() ? cause : why;
    leave_peer(*group, peer, std::move(left));
  }
  parts_.groups.end(*group, part);
  parts_.credit.issue_to_short();
  parts_.clock.settle(lock);
}

/// Returns why this host leaves a group early: the loss of the first lost host, or if no loss is
/// known, the reason that a peer gave when it left. Returns "" if neither is known. A peer's reason
/// may arrive before the report of the loss.
/// Requires: the endpoint's mutex is held.
std::string GroupCalls::cause_of_leaving(const GroupState& group) const {
  if (const std::string& loss = parts_.lost.first_text(); !loss.empty())
    return fmt::format("host {} has left group {}: {}", state_.name, group.name, loss);
  return group.said.empty() ? "" : group.over.at(*group.said.begin());
}

/// Ends the lanes with a peer. Sends to the peer the frame `left`, which reports that this host
/// leaves the group.
/// Requires: the endpoint's mutex is held.
void GroupCalls::leave_peer(GroupState& group, std::uint32_t peer, LaneFrame left) {
  constexpr const char* has_left = "this host has left the group";
  if (const auto lane = group.out.find(peer); lane != group.out.end()) {
    left.bytes = lane->second.messages_sent;
    parts_.failures.fail(group, peer, parts_.outgoing.drop(lane->second), has_left);
  }
  if (const auto lane = group.in.find(peer); lane != group.in.end())
    parts_.failures.fail(group, peer, lane->second->drop(), has_left);
  if (!parts_.lost.has(peer)) state_.post(std::move(left));
}

void GroupCalls::leave_all() {
  std::vector<std::uint64_t> ids;
  {
    const runtime::Lock lock(state_.mutex);
    for (const auto& [id, group] : parts_.groups.all()) ids.push_back(id);
  }
  for (const std::uint64_t id : ids) leave(id);
}

// ---- waiting ----------------------------------------------------------------------------------

void GroupCalls::wait(LaneWait& one, const std::string& what, runtime::Deadline given) {
  const runtime::Deadline until = runtime::sooner(state_.runtime, state_.deadline(), given);
  if (!one.completion.wait(until, {"a transfer on a lane,", what}))
    throw TravelError(
        state_.name, "", "",
        fmt::format("{}: not delivered before the deadline of {}{}", what,
                    until.at == given.at ? "its wait" : base::format_time(state_.plan->deadline),
                    known_cause_text()),
        FailureCause::deadline);
  if (one.failure) throw TravelError(*one.failure);
}

std::string GroupCalls::known_cause_text() const {
  const std::string text = silent_switch_text();
  const runtime::Lock lock(state_.mutex);
  const std::string& loss = parts_.lost.first_text();
  return loss.empty() ? text : fmt::format("{}; {}", text, loss);
}

std::string GroupCalls::silent_switch_text() const {
  const std::uint32_t place = switch_number(*state_.plan, state_.cluster());
  if (!state_.carrier.silent().contains(place)) return {};
  return fmt::format("; {}, a process of its own, has not replied",
                     place_text(*state_.plan, place));
}

}  // namespace paths
