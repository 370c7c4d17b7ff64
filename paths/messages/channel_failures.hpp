// SPDX-License-Identifier: Apache-2.0
// paths/messages/channel_failures.hpp — failures of lanes and channels
#pragma once
#include <cstdint>
#include <string>

#include "paths/messages/channels/outgoing_lanes.hpp"
#include "paths/messages/credit_issuer.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/group_table.hpp"

namespace paths {

/// A wait must not hang on a lane or channel that cannot carry its message. ChannelFailures ends
/// lanes and channels, and fails their waits with the reason.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class ChannelFailures {
 public:
  /// Requires: the arguments outlive this object.
  ChannelFailures(EndpointState& state, GroupTable& groups, CreditIssuer& credit,
                  OutgoingLanes& outgoing)
      : state_(state), groups_(groups), credit_(credit), outgoing_(outgoing) {}

  /// Fails waits on lanes with a peer. The error names group and peer.
  void fail(const GroupState& group, std::uint32_t peer, const EndpointState::Waits& waits,
            const std::string& reason);
  /// Fails waits with `reason` as the whole text.
  void fail_as_said(const EndpointState::Waits& waits, const std::string& reason,
                    FailureCause cause);
  /// Whether an operation of a thread on this host has failed.
  bool is_delivered() const { return is_delivered_; }

  /// Ends the lanes to and from a peer.
  void end_lanes(GroupState& group, std::uint32_t peer, const std::string& reason);
  /// Ends the lanes of all peers whose way leads to or through a lost host.
  void end_lanes_over(GroupState& group, std::uint32_t lost, const std::string& reason);
  /// Refuses a frame, and ends the lanes of its source in the group.
  void refuse(const LaneFrame& frame, const std::string& wrong);

  /// Records what a host uses a channel for. If two hosts differ, the channel and all higher ones
  /// fail, because the hosts differ about those, too.
  void compare_signatures(GroupState& group, std::uint64_t channel,
                          const GroupState::Meaning& said);
  /// Ends channels on this host.
  void end_channels(GroupState& group, const Channels& which, const std::string& why,
                    FailureCause cause);
  /// Ends channels and notifies the peers.
  void fail_channels(GroupState& group, const Channels& which, const std::string& why,
                     FailureCause cause);
  void tell(GroupState& group, std::uint32_t peer, std::uint64_t channel);
  /// Takes a peer's report of failed channels.
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
