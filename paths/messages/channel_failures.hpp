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

/// Ends lanes and channels that can no longer carry messages. Fails their sends and receives with
/// the reason, because these sends and receives would never end otherwise.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class ChannelFailures {
 public:
  /// Requires: the arguments outlive this object.
  ChannelFailures(EndpointState& state, GroupTable& groups, CreditIssuer& credit,
                  OutgoingLanes& outgoing)
      : state_(state), groups_(groups), credit_(credit), outgoing_(outgoing) {}

  /// Fails the sends to a peer, or the receives from the peer, whose waits are in `waits`. The
  /// error names the group and the peer.
  void fail(const GroupState& group, std::uint32_t peer, const EndpointState::Waits& waits,
            const std::string& reason);
  /// Fails the sends or receives whose waits are in `waits`. The text of the error is `reason`,
  /// without an addition.
  void fail_as_said(const EndpointState::Waits& waits, const std::string& reason,
                    FailureCause cause);
  /// Returns whether any send or receive of this host has failed.
  bool is_delivered() const { return is_delivered_; }

  /// Ends the lanes to and from a peer.
  void end_lanes(GroupState& group, std::uint32_t peer, const std::string& reason);
  /// Ends the lanes with the host or switch `lost`. Also ends the lanes with each peer whose route
  /// to or from this host leads through `lost`.
  void end_lanes_over(GroupState& group, std::uint32_t lost, const std::string& reason);
  /// Rejects a frame that breaks a rule. `wrong` describes the frame. In the group of the frame,
  /// ends the lanes to and from the source of the frame.
  void refuse(const LaneFrame& frame, const std::string& wrong);

  /// Records the purpose for which a host uses a channel. If two hosts use the channel for
  /// different purposes, the channel and all higher channels fail. The higher channels fail,
  /// because the two hosts would use them for different purposes, too.
  void compare_signatures(GroupState& group, std::uint64_t channel,
                          const GroupState::Meaning& said);
  /// Fails channels on this host only.
  void end_channels(GroupState& group, const Channels& which, const std::string& why,
                    FailureCause cause);
  /// Fails channels on this host, and reports the failure to the peers.
  void fail_channels(GroupState& group, const Channels& which, const std::string& why,
                     FailureCause cause);
  /// Reports the failure of `channel` to a peer.
  void tell(GroupState& group, std::uint32_t peer, std::uint64_t channel);
  /// Processes a peer's report that channels have failed.
  void take(GroupState& group, const LaneFrame& frame);

 private:
  EndpointState& state_;
  GroupTable& groups_;
  CreditIssuer& credit_;
  OutgoingLanes& outgoing_;
  bool is_delivered_ = false;
};

}  // namespace paths
