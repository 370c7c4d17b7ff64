// SPDX-License-Identifier: Apache-2.0
// paths/messages/credit_issuer.cpp — computation of a lane's credit, and delay of grants
#include "paths/messages/credit_issuer.hpp"

#include <algorithm>
#include <memory>

namespace paths {
namespace {

/// Rate in bit/s that bytes_under_way() assumes for a route without a rate limit.
constexpr double unlimited_as_bits_per_second = 10e9;
constexpr std::uint64_t usual_frame_bytes = LaneSettings().frame_bytes;
/// Longest delay of a grant. After this delay the grant is sent, unless its message has arrived.
constexpr base::Nanos asks_after = std::chrono::milliseconds(250);

}  // namespace

InboundChannel& CreditIssuer::lane_from(GroupState& group, std::uint32_t source) {
  std::unique_ptr<InboundChannel>& lane = group.in[source];
  if (lane != nullptr) return *lane;
  if (const std::uint64_t exact = group.options.window_bytes; exact != 0) {
    lane = std::make_unique<InboundChannel>(inbox_, exact, 1);
  } else {
    const std::uint64_t under_way = bytes_under_way(source);
    const std::uint64_t aim = std::min(under_way + under_way / 8, largest_share());
    lane = std::make_unique<InboundChannel>(inbox_, aim, aim / 9);
  }
  return *lane;
}

/// Returns the largest credit in bytes that a source gets, so that the sources of fast links with a
/// high latency leave credit for all others. If all hosts send to this host, they get at most half
/// of the inbox together. The other half is for further groups. Each source gets at least two
/// frames.
std::uint64_t CreditIssuer::largest_share() const {
  return std::max(2 * charge_of(frame_bytes()), inbox_.bytes() / 2 / state_.plan->hosts.size());
}

std::uint64_t CreditIssuer::frame_bytes() const {
  const std::uint64_t declared = state_.plan->lanes.frame_bytes;
  return declared != 0 ? declared : usual_frame_bytes;
}

/// Returns the number of bytes that can be under way in one round trip between the source and this
/// host, plus two frames. The two frames cover the time in which this host processes a frame.
std::uint64_t CreditIssuer::bytes_under_way(std::uint32_t source) const {
  const Plan& plan = *state_.plan;
  const WayCost there = cost_of(plan, source, state_.host),
                back = cost_of(plan, state_.host, source);
  const double rate =
      there.bits_per_second > 0 ? there.bits_per_second : unlimited_as_bits_per_second;
  const double seconds = std::chrono::duration<double>(there.latency + back.latency).count();
  const std::uint64_t frame = frame_bytes();
  const double frames = rate / 8 * seconds / static_cast<double>(frame);
  return (static_cast<std::uint64_t>(frames) + 2) * charge_of(frame);
}

void CreditIssuer::issue(GroupState& group, std::uint32_t source) {
  Account& account = lane_from(group, source).account();
  if (const std::uint64_t bytes = account.issue(); bytes > 0) {
    LaneFrame credit = state_.control(LaneKind::credit, source, group.id);
    credit.bytes = bytes;
    state_.post(std::move(credit));
  }
  const std::pair lane(group.id, source);
  if (account.is_short() && std::find(short_.begin(), short_.end(), lane) == short_.end())
    short_.push_back(lane);
}

void CreditIssuer::issue_returned(GroupState& group, std::uint32_t source) {
  issue_to_short();
  issue(group, source);
}

void CreditIssuer::issue_to_short() {
  for (std::size_t left = short_.size(); left > 0 && inbox_.free() > 0; --left) {
    const auto [id, source] = short_.front();
    short_.pop_front();
    if (GroupState* const group = groups_.find(id)) issue(*group, source);
  }
}

void CreditIssuer::ask_for(const GroupState& group, std::uint32_t source, InboundChannel& lane,
                           const NamedMessage& which, MessageName name) {
  if (!may_wait_to_ask(lane, which))
    return grant(group.id, source, {name, which.signature_digest}, which.is_grant_at_once);
  lane.hold_back(name, which.signature_digest);
  asks_at_ = std::min(asks_at_, state_.runtime.now() + asks_after);
}

/// Returns whether the grant of a message may be delayed. It may be delayed if the message is small
/// and the source has ample credit, because the source can then send the message without a grant.
/// If the source uses this credit for a different message, ask_if_short() sends the grant.
bool CreditIssuer::may_wait_to_ask(const InboundChannel& lane, const NamedMessage& which) const {
  return which.is_little && !which.is_grant_at_once && !state_.runtime.is_virtual() &&
         has_ample_credit(lane);
}

bool CreditIssuer::has_ample_credit(const InboundChannel& lane) const {
  const std::uint64_t frame = state_.plan->lanes.frame_bytes;
  return frame != 0 && lane.account().is_ample() && lane.account().unused() >= charge_of(frame);
}

void CreditIssuer::grant(std::uint64_t group, std::uint32_t source,
                         const InboundChannel::HeldBack& message, bool is_at_once) {
  LaneFrame grant = state_.control(LaneKind::grant, source, group);
  grant.channel = message.name.channel;
  grant.ordinal = message.name.ordinal;
  grant.signature_digest = message.signature_digest;
  grant.is_at_once = is_at_once;
  state_.post(std::move(grant));
}

void CreditIssuer::grant_held_back(const GroupState& group, std::uint32_t source,
                                   InboundChannel& lane) {
  for (const InboundChannel::HeldBack& message : lane.take_held_back())
    grant(group.id, source, message);
}

void CreditIssuer::ask_if_short(const GroupState& group, std::uint32_t source,
                                InboundChannel& lane) {
  if (lane.holds_back() && !has_ample_credit(lane)) grant_held_back(group, source, lane);
}

/// Sends all delayed grants. This function is called 250 ms after the first of these grants was
/// delayed. The grants are sent even if the sources have credit, because each grant contains the
/// signature digest of this host's operation. By the digest, a source notices if it uses the
/// channel for a different operation.
void CreditIssuer::ask_for_all() {
  asks_at_ = base::Nanos::max();
  for (const auto& [id, group] : groups_.all())
    for (const auto& [source, lane] : group->in) grant_held_back(*group, source, *lane);
}

}  // namespace paths
