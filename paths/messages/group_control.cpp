// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_control.cpp — handling of each kind of control frame of a group
#include "paths/messages/group_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace paths {
namespace {

// Limits in bytes for early control frames. This host keeps such frames for groups that it has not
// made yet. The limit early_bytes_of_all is divided among all sources, but each source may use at
// least early_bytes_of_each.
constexpr std::size_t early_bytes_of_all = std::size_t{16} << 20;
constexpr std::size_t early_bytes_of_each = std::size_t{256} << 10;

std::size_t bytes_of(const LaneFrame& frame) { return sizeof frame + frame.text.size(); }
/// Value of LaneFrame::bytes in a question from a host that waits to send. In a question from a
/// host that waits to receive, `bytes` is the number of arrived messages, which is always lower.
constexpr std::uint64_t waits_to_send = std::numeric_limits<std::uint64_t>::max();

bool is_question(const LaneFrame& frame) {
  return frame.kind == LaneKind::ask && frame.signature_digest != 0;
}

Participation part_of(const LaneFrame& left) {
  return {left.channel, left.signature_digest, left.text};
}

}  // namespace

void GroupControl::take(LaneFrame frame, base::Nanos moment) {
  GroupState* const group = parts_.groups.find(frame.group);
  if (group == nullptr) {
    const GroupTable::Ended* const ended = parts_.groups.ended(frame.group);
    return ended == nullptr ? keep_for_later(std::move(frame)) : take_of_ended(*ended, frame);
  }
  if (!group->has(frame.source) || frame.source == parts_.state.host)
    return parts_.failures.refuse(frame,
                                  fmt::format("control of group {} from outside", group->name));
  switch (frame.kind) {
    case LaneKind::credit:
    case LaneKind::grant: return take_permission(*group, frame, moment);
    case LaneKind::ask:
      return frame.signature_digest == 0 ? parts_.credit.issue(*group, frame.source)
                                         : take_question(*group, frame);
    case LaneKind::left: return take_farewell(*group, frame);
    case LaneKind::failed: return parts_.failures.take(*group, frame);
    case LaneKind::refused: return parts_.failures.end_lanes(*group, frame.source, frame.text);
    default: return;
  }
}

void GroupControl::take_of_ended(const GroupTable::Ended& ended, const LaneFrame& frame) {
  if (frame.kind == LaneKind::failed && frame.signature_digest != 0)
    parts_.groups.note_mismatch(ended, frame.channel, frame.text);
  const bool wants_answer = frame.kind == LaneKind::grant || frame.kind == LaneKind::ask;
  const bool differs =
      frame.kind == LaneKind::left && parts_.groups.compare(ended, frame.source, part_of(frame));
  if (!wants_answer && !differs) return;
  LaneFrame left = farewell(frame.source, frame.group, ended.part);
  // This second farewell may overtake the first farewell, and messages that are still under way. It
  // therefore states how many messages this host has sent to the peer in total.
  if (const auto sent = ended.messages_sent.find(frame.source); sent != ended.messages_sent.end())
    left.bytes = sent->second;
  parts_.state.post(std::move(left));
}

// ---- permissions ------------------------------------------------------------------------------

void GroupControl::take_permission(GroupState& group, const LaneFrame& frame, base::Nanos moment) {
  if (group.over.contains(frame.source)) return;
  OutboundChannel& lane = group.lane_to(frame.source);
  if (frame.kind == LaneKind::credit) {
    lane.window.add(frame.bytes);
  } else {
    parts_.failures.compare_signatures(group, frame.channel,
                                       {frame.signature_digest, frame.source});
    if (group.failure_of(frame.channel) != nullptr)
      return parts_.failures.tell(group, frame.source, frame.channel);
    if (group.is_closed(frame.channel)) return;
    take_grant(lane, frame);
  }
  parts_.outgoing.unblock(lane, moment);
}

/// Applies a grant. Ignores the grant if it is for a numbered message that was sent already. Stores
/// the grant if send() for its message may follow later.
void GroupControl::take_grant(OutboundChannel& lane, const LaneFrame& frame) {
  const MessageName name{frame.channel, frame.ordinal};
  const auto channel = lane.channels.find(name.channel);
  const bool is_to_come =
      channel == lane.channels.end() || name.ordinal >= channel->second.next_ordinal;
  if (!parts_.outgoing.grant(lane, name) && is_to_come) lane.window.grant(name);
}

// ---- farewells --------------------------------------------------------------------------------

LaneFrame GroupControl::farewell(std::uint32_t peer, std::uint64_t group,
                                 const Participation& part) const {
  LaneFrame left = parts_.state.control(LaneKind::left, peer, group);
  left.channel = part.channels;
  left.signature_digest = part.signature_digest;
  left.text = part.text;
  return left;
}

void GroupControl::take_farewell(GroupState& group, const LaneFrame& frame) {
  const bool is_failing = frame.signature_digest == 0 && !frame.text.empty();
  std::string why = is_failing ? frame.text : "it has left the group";
  if (frame.signature_digest != 0) why += " " + frame.text;
  group.parts.emplace(frame.source, part_of(frame));
  const auto [over, is_new] = group.over.emplace(frame.source, std::move(why));
  if (!is_new) return;
  if (is_failing) group.said.insert(frame.source);
  parts_.failures.fail(group, frame.source, parts_.outgoing.drop(group.lane_to(frame.source)),
                       over->second);
  parts_.failures.fail(group, frame.source,
                       parts_.credit.lane_from(group, frame.source).end_after(frame.bytes),
                       over->second);
}

// ---- questions --------------------------------------------------------------------------------

void GroupControl::ask(GroupState& group, const LaneQuestion& question) {
  std::map<std::uint32_t, std::uint64_t> arrived;
  for (const auto& [peer, lane] : group.in)
    if (lane->awaits(question.channel)) arrived[peer] = lane->messages_arrived();
  for (auto& [peer, lane] : group.out)
    if (lane.holds(question.channel)) arrived[peer] = waits_to_send;
  for (const auto& [peer, messages] : arrived) {
    if (group.over.contains(peer)) continue;
    LaneFrame asked = parts_.state.control(LaneKind::ask, peer, group.id);
    asked.channel = question.channel;
    asked.signature_digest = question.signature_digest;
    asked.bytes = messages;
    asked.ordinal = question.parent;
    asked.offset = question.parent_channel;
    if (question.threads) asked.text = question.threads(peer);
    parts_.state.post(std::move(asked));
  }
}

/// Replies to a peer that asks whether an awaited message is still possible. If this host has
/// closed the channel, and the peer has received all messages of this host, the awaited message
/// does not exist. The channel then fails.
void GroupControl::take_question(GroupState& group, const LaneFrame& frame) {
  if (group.over.contains(frame.source)) return;
  if (!group.is_closed(frame.channel)) {
    parts_.failures.compare_signatures(group, frame.channel,
                                       {frame.signature_digest, frame.source});
  } else if (const auto known = group.closed_purposes.find(frame.channel);
             known != group.closed_purposes.end() && known->second == frame.signature_digest) {
    return;  // no failure, because this host has done its part without messages
  } else if (group.failure_of(frame.channel) == nullptr &&
             frame.bytes >= group.lane_to(frame.source).messages_sent) {
    const auto& [last, what] = group.last_closed;
    const bool is_reported = last == frame.channel && what != nullptr;
    parts_.failures.end_channels(
        group, {.first = frame.channel},
        fmt::format("hosts {0} and {1} use channel {2} of group {3} for different messages: {0} "
                    "waits for {1}, which has closed it{4}",
                    parts_.state.name_of(frame.source), parts_.state.name, frame.channel,
                    group.name, is_reported ? fmt::format(" after '{}'", *what) : ""),
        FailureCause::application);
    group.mark_mismatch(frame.channel);
  }
  if (group.failure_of(frame.channel) != nullptr)
    parts_.failures.tell(group, frame.source, frame.channel);
}

/// Returns the reason why this host will never join the group of a frame; "" if this host may still
/// join, or if the frame needs no reply.
std::string GroupControl::why_never_here(const LaneFrame& frame) const {
  const bool wants_answer = frame.kind == LaneKind::credit || frame.kind == LaneKind::grant ||
                            frame.kind == LaneKind::ask;
  if (!wants_answer) return {};
  if (have_threads_ended_)
    return fmt::format("the threads of host {} have ended", parts_.state.name);
  if (!is_question(frame)) return {};
  if (std::string why = why_never_split(frame); !why.empty()) return why;
  return why_absent_ ? why_absent_(frame.text) : std::string();
}

/// Returns the reason why this host will never join a group that was split from an old group; "" if
/// this host may still join. A host takes part in a split only while it is in the old group. A host
/// that has left the old group, or on which the split failed, will never join the new group.
std::string GroupControl::why_never_split(const LaneFrame& question) const {
  if (const GroupTable::Ended* const ended = parts_.groups.ended(question.ordinal)) {
    const Participation& part = ended->part;
    const bool has_reason = part.signature_digest == 0 && !part.text.empty();
    return fmt::format("host {} has left group {}, from which this one was split{}",
                       parts_.state.name, ended->name, has_reason ? ": " + part.text : "");
  }
  const GroupState* const parent = parts_.groups.find(question.ordinal);
  if (parent == nullptr || parent->is_closed(question.offset)) return {};
  const GroupState::Failed* const failed = parent->failure_of(question.offset);
  return failed == nullptr ? std::string()
                           : fmt::format("the split of group {} failed on host {}: {}",
                                         parent->name, parts_.state.name, failed->why);
}

// ---- groups that this host has not made -------------------------------------------------------

void GroupControl::keep_for_later(LaneFrame frame) {
  if (const std::string why = why_never_here(frame); !why.empty())
    return parts_.state.post(farewell(frame.source, frame.group, {.text = why}));
  if (is_question(frame)) return;  // not kept, because the source repeats its questions
  const bool is_useful = frame.kind == LaneKind::credit || frame.kind == LaneKind::grant ||
                         frame.kind == LaneKind::ask || frame.kind == LaneKind::left ||
                         frame.kind == LaneKind::failed;
  std::size_t& kept = early_bytes_[frame.source];
  if (!is_useful || kept + bytes_of(frame) > early_bytes_max()) {
    return parts_.state.reject(frame.source,
                               fmt::format("control for a group that does not exist{}{}",
                                           frame.text.empty() ? "" : ": ", frame.text));
  }
  kept += bytes_of(frame);
  early_[frame.group].push_back(std::move(frame));
}

/// Returns the maximum number of bytes of early frames that are kept from each source. Each source
/// has a limit of its own, so that many frames of one source do not prevent the keeping of frames
/// of other sources.
std::size_t GroupControl::early_bytes_max() const {
  return std::max(early_bytes_of_each, early_bytes_of_all / parts_.state.plan->hosts.size());
}

void GroupControl::take_early(std::uint64_t group) {
  auto early = early_.extract(group);
  if (!early) return;
  for (LaneFrame& frame : early.mapped()) {
    early_bytes_[frame.source] -= bytes_of(frame);
    take(std::move(frame), parts_.state.runtime.now());
  }
}

void GroupControl::end_threads() {
  have_threads_ended_ = true;
  early_bytes_.clear();
  for (const auto& [group, frames] : std::exchange(early_, {})) {
    std::map<std::uint32_t, std::string> answers;
    for (const LaneFrame& frame : frames)
      if (std::string why = why_never_here(frame); !why.empty())
        answers.emplace(frame.source, std::move(why));
    for (const auto& [source, why] : answers)
      parts_.state.post(farewell(source, group, {.text = why}));
  }
}

}  // namespace paths
