// SPDX-License-Identifier: Apache-2.0
// paths/messages/channel_failures.cpp — failures of lanes and channels, and their reports
#include "paths/messages/channel_failures.hpp"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <utility>

#include "paths/plan/emulated_switches.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

void ChannelFailures::fail(const GroupState& group, std::uint32_t peer,
                           const EndpointState::Waits& waits, const std::string& reason) {
  if (waits.empty()) return;
  // If the peer itself gave the reason when it left the group, the text needs no addition. The
  // cause is `other`, because the peer's report contains no FailureCause.
  if (group.said.contains(peer)) return fail_as_said(waits, reason, FailureCause::other);
  // Whether one of the two hosts leaves the group: the peer, which is then in `parts`, or this
  // host. This host leaves if the peer is not in `over`, because the lanes of the peer then still
  // work.
  const bool has_left = group.parts.contains(peer) || !group.over.contains(peer);
  fail_as_said(
      waits,
      fmt::format("group {}, lane with host {}: {}", group.name, state_.name_of(peer), reason),
      has_left ? FailureCause::released : FailureCause::peer_gone);
}

void ChannelFailures::fail_as_said(const EndpointState::Waits& waits, const std::string& reason,
                                   FailureCause cause) {
  if (waits.empty()) return;
  is_delivered_ = true;
  const Failure failure = std::make_shared<TravelError>(state_.name, "", "", reason, cause);
  for (const auto& wait : waits) {
    wait->failure = failure;
    state_.ended.push_back(wait);
  }
}

void ChannelFailures::end_lanes(GroupState& group, std::uint32_t peer, const std::string& reason) {
  group.over[peer] = reason;
  fail(group, peer, outgoing_.drop(group.lane_to(peer)), reason);
  fail(group, peer, credit_.lane_from(group, peer).drop(), reason);
  credit_.issue_to_short();
}

void ChannelFailures::end_lanes_over(GroupState& group, std::uint32_t lost,
                                     const std::string& reason) {
  const Plan& plan = *state_.plan;
  for (const std::uint32_t peer : *group.hosts)
    if (peer != state_.host && !group.over.contains(peer) &&
        (peer == lost || way_leads_through(plan, state_.host, peer, lost) ||
         way_leads_through(plan, peer, state_.host, lost)))
      end_lanes(group, peer, fmt::format("{} is gone: {}", place_text(plan, lost), reason));
}

void ChannelFailures::refuse(const LaneFrame& frame, const std::string& wrong) {
  state_.reject(frame.source, "refused: " + wrong);
  LaneFrame refused = state_.control(LaneKind::refused, frame.source, frame.group);
  refused.text = fmt::format("host {} was sent {}", state_.name, wrong);
  state_.post(std::move(refused));
  GroupState* const group = groups_.find(frame.group);
  if (group != nullptr && group->has(frame.source))
    end_lanes(*group, frame.source, fmt::format("it sent {}", wrong));
}

void ChannelFailures::compare_signatures(GroupState& group, std::uint64_t channel,
                                         const GroupState::Meaning& said) {
  if (group.is_closed(channel) || group.failure_of(channel) != nullptr) return;
  const GroupState::Meaning& known = group.meanings.emplace(channel, said).first->second;
  if (known.signature_digest == said.signature_digest) return;
  std::string what = group.options.describe ? group.options.describe(channel) : "";
  if (!what.empty()) what.insert(0, "; ");
  end_channels(group, {.first = channel},
               fmt::format("hosts {} and {} use channel {} for different messages{}",
                           state_.name_of(known.host), state_.name_of(said.host), channel, what),
               FailureCause::application);
  group.mark_mismatch(channel);
  if (known.host != state_.host) tell(group, known.host, channel);
}

void ChannelFailures::end_channels(GroupState& group, const Channels& which, const std::string& why,
                                   FailureCause cause) {
  if (!group.fail(which, why, cause)) return;
  for (auto& [peer, lane] : group.out) fail_as_said(outgoing_.drop(lane, which), why, cause);
  for (auto& [peer, lane] : group.in) fail_as_said(lane->close(which), why, cause);
  for (auto& [peer, lane] : group.in) credit_.issue_returned(group, peer);
}

/// Fails channels and reports the failure to the peers. Also reports failures of these channels
/// that another host has reported before, because that report may not have reached all hosts.
void ChannelFailures::fail_channels(GroupState& group, const Channels& which,
                                    const std::string& why, FailureCause cause) {
  end_channels(group, which, why, cause);
  for (auto& [first, failed] : group.failed) {
    const bool is_meant = first <= which.last && which.first <= failed.last;
    if (!is_meant || std::exchange(failed.is_notified, true)) continue;
    for (const std::uint32_t peer : *group.hosts) {
      const bool has_lane = group.out.contains(peer) || group.in.contains(peer);
      if (has_lane && !group.over.contains(peer) && !failed.knowing.contains(peer))
        tell(group, peer, first);
    }
  }
}

void ChannelFailures::tell(GroupState& group, std::uint32_t peer, std::uint64_t channel) {
  const auto& [first, entry] = *std::prev(group.failed.upper_bound(channel));
  LaneFrame failed = state_.control(LaneKind::failed, peer, group.id);
  failed.channel = first;
  failed.bytes = entry.last;
  failed.signature_digest = entry.is_mismatch ? 1 : 0;
  failed.offset = static_cast<std::uint64_t>(entry.cause);
  failed.text = entry.why;
  state_.post(std::move(failed));
}

void ChannelFailures::take(GroupState& group, const LaneFrame& frame) {
  if (frame.bytes < frame.channel) return;
  const bool is_known = frame.offset <= static_cast<std::uint64_t>(FailureCause::ended);
  end_channels(group, {frame.channel, frame.bytes}, frame.text,
               is_known ? static_cast<FailureCause>(frame.offset) : FailureCause::other);
  if (frame.signature_digest != 0) group.mark_mismatch(frame.channel);
  for (auto entry = group.failed.lower_bound(frame.channel);
       entry != group.failed.end() && entry->first <= frame.bytes; ++entry)
    entry->second.knowing.insert(frame.source);
}

}  // namespace paths
