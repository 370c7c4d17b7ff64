// SPDX-License-Identifier: Apache-2.0
// paths/messages/lanes_questions.cpp — whether what a channel waits for can still happen.
#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

#include "paths/messages/lanes.hpp"

namespace paths {
namespace {

/// Count of messages in a question by a host that waits to send: none is larger.
constexpr std::uint64_t waits_to_send = std::numeric_limits<std::uint64_t>::max();

bool is_question(const LaneFrame& frame) {
  return frame.kind == LaneKind::ask && frame.meaning != 0;
}

}  // namespace

void Lanes::answer_for_threads(WhyAbsent why_absent) {
  runtime::Lock lock(mutex_);
  why_absent_ = std::move(why_absent);
}

void Lanes::ask(std::uint64_t id, const LaneQuestion& question) {
  runtime::Lock lock(mutex_);
  Group* const group = find(id);
  if (group == nullptr) return;
  std::map<std::uint32_t, std::uint64_t> arrived;
  for (const auto& [peer, lane] : group->in)
    if (lane->awaits(question.channel)) arrived[peer] = lane->messages_arrived();
  for (const auto& [peer, lane] : group->out)
    if (lane.holds(question.channel)) arrived[peer] = waits_to_send;
  for (const auto& [peer, messages] : arrived) {
    if (group->over.contains(peer)) continue;
    LaneFrame asked = control(LaneKind::ask, peer, id);
    asked.channel = question.channel;
    asked.meaning = question.meaning;
    asked.bytes = messages;
    asked.ordinal = question.parent;
    asked.offset = question.parent_channel;
    if (question.threads) asked.text = question.threads(peer);
    post(std::move(asked));
  }
  settle(lock);
}

/// A closed channel has sent all that it ever will. If all that this host sent has arrived there,
/// the message that the other host waits for does not exist.
void Lanes::take_question(Group& group, const LaneFrame& frame) {
  if (group.over.contains(frame.source)) return;
  if (!group.is_closed(frame.channel)) {
    see_meaning(group, frame.channel, {frame.meaning, frame.source});
  } else if (group.why_failed(frame.channel) == nullptr &&
             frame.bytes >= lane_to(group, frame.source).messages_sent) {
    const auto& [last, what] = group.last_closed;
    const bool is_said = last == frame.channel && what != nullptr;
    end_channels(group, {.first = frame.channel},
                 fmt::format("hosts {0} and {1} take channel {2} of group {3} for different ones: "
                             "{0} waits for {1}, which is done with it{4}",
                             host_text(frame.source), name_, frame.channel, group.name,
                             is_said ? fmt::format(" after '{}'", *what) : ""));
    group.mark_mismatch(frame.channel);
  }
  if (group.why_failed(frame.channel) != nullptr) tell_failed(group, frame.source, frame.channel);
}

/// Why this host will not be in the group that a frame is for; "": it may be.
std::string Lanes::why_never_here(const LaneFrame& frame) const {
  const bool wants_answer = frame.kind == LaneKind::credit || frame.kind == LaneKind::grant ||
                            frame.kind == LaneKind::ask;
  if (!wants_answer) return {};
  if (end_.is_here) return fmt::format("the threads of host {} have ended", name_);
  if (!is_question(frame)) return {};
  if (std::string why = why_never_split(frame); !why.empty()) return why;
  return why_absent_ ? why_absent_(frame.text) : std::string();
}

/// Members make the parts of a split while they are in the group that is split: one that has left
/// it, or that the split failed for, makes none.
std::string Lanes::why_never_split(const LaneFrame& question) const {
  if (const auto ended = ended_groups_.find(question.ordinal); ended != ended_groups_.end()) {
    const PartTaken& part = ended->second.part;
    const bool has_reason = part.meaning == 0 && !part.text.empty();
    return fmt::format("host {} has left group {}, from which this one was split{}", name_,
                       ended->second.name, has_reason ? ": " + part.text : "");
  }
  const auto parent = groups_.find(question.ordinal);
  if (parent == groups_.end() || parent->second->is_closed(question.offset)) return {};
  const std::string* const why = parent->second->why_failed(question.offset);
  return why == nullptr ? std::string()
                        : fmt::format("the split of group {} failed on host {}: {}",
                                      parent->second->name, name_, *why);
}

void Lanes::answer_for_good(std::uint32_t source, std::uint64_t group, const std::string& why) {
  LaneFrame left = control(LaneKind::left, source, group);
  left.text = why;
  post(std::move(left));
}

/// Replies to frames of groups that no thread of this host will make any more.
void Lanes::answer_early() {
  early_frames_ = 0;
  for (const auto& [group, frames] : std::exchange(early_, {})) {
    std::map<std::uint32_t, std::string> answers;
    for (const LaneFrame& frame : frames)
      if (std::string why = why_never_here(frame); !why.empty())
        answers.emplace(frame.source, std::move(why));
    for (const auto& [source, why] : answers) answer_for_good(source, group, why);
  }
}

}  // namespace paths
