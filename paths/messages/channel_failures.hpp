// SPDX-License-Identifier: Apache-2.0
// paths/messages/channel_failures.hpp — lanes and channels that carry nothing more.
#pragma once
#include <cstdint>
#include <string>

#include "paths/messages/channels/outgoing_lanes.hpp"
#include "paths/messages/credit_issuer.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/group_table.hpp"

namespace paths {

/// Ends lanes and channels. Waits on them fail with the reason.
///
/// Sharing: guarded by the mutex of the endpoint.
class ChannelFailures {
 public:
  /// All outlive it.
  ChannelFailures(EndpointState& state, GroupTable& groups, CreditIssuer& credit,
                  OutgoingLanes& outgoing)
      : state_(state), groups_(groups), credit_(credit), outgoing_(outgoing) {}

  /// Fails what waits on lanes with a peer.
  void fail(const GroupState& group, std::uint32_t peer, const EndpointState::Waits& waits,
            const std::string& reason);
  /// The same with a reason that says all.
  void fail_as_said(const EndpointState::Waits& waits, const std::string& reason,
                    FailureCause cause = FailureCause::other);
  /// Whether an operation of a thread here has failed.
  bool is_delivered() const { return is_delivered_; }

  /// Nothing more comes from that peer, nor goes there.
  void end_lanes(GroupState& group, std::uint32_t peer, const std::string& reason);
  /// The same for all peers whose way leads to or through a host that is lost.
  void end_lanes_over(GroupState& group, std::uint32_t lost, const std::string& reason);
  /// Refuses a frame and all else that its source sends in the group.
  void refuse(const LaneFrame& frame, const std::string& wrong);

  /// Notes for what a host uses a channel. If two hosts differ, the channel and all with higher
  /// numbers fail, because the hosts differ about those, too.
  void compare_signatures(GroupState& group, std::uint64_t channel,
                          const GroupState::Meaning& said);
  /// The channels carry nothing more on this host.
  void end_channels(GroupState& group, const Channels& which, const std::string& why);
  /// Ends channels, and tells the peers.
  void fail_channels(GroupState& group, const Channels& which, const std::string& why);
  void tell(GroupState& group, std::uint32_t peer, std::uint64_t channel);
  /// A peer tells of channels that have failed.
  void take(GroupState& group, const LaneFrame& frame);

 private:
  void fail(const EndpointState::Waits& waits, const Failure& failure);

  EndpointState& state_;
  GroupTable& groups_;
  CreditIssuer& credit_;
  OutgoingLanes& outgoing_;
  bool is_delivered_ = false;
};

}  // namespace paths
