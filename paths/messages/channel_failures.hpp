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

/// Ends lanes and channels that can no longer carry their messages, and fails their sends and
/// receives with the reason. Otherwise these sends and receives would never end.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class ChannelFailures {
 public:
  /// Requires: the arguments outlive this object.
  ChannelFailures(EndpointState& state, GroupTable& groups, CreditIssuer& credit,
                  OutgoingLanes& outgoing)
      : state_(state), groups_(groups), credit_(credit), outgoing_(outgoing) {}

  /// Fails the sends to a peer, or receives from it, whose waits are in `waits`. The error names
  /// group and peer.
  void fail(const GroupState& group, std::uint32_t peer, const EndpointState::Waits& waits,
            const std::string& reason);
  /// Fails the sends or receives whose waits are in `waits`. `reason` is the whole text of the
  /// error.
  void fail_as_said(const EndpointState::Waits& waits, const std::string& reason,
                    FailureCause cause);
  /// Returns whether any send or receive of this host has failed.
  bool is_delivered() const { return is_delivered_; }

  /// Ends the lanes to and from a peer.
  void end_lanes(GroupState& group, std::uint32_t peer, const std::string& reason);
  /// Ends the lanes with the lost host. Also ends the lanes with each peer whose route to or from
  /// this host passes the lost host.
  void end_lanes_over(GroupState& group, std::uint32_t lost, const std::string& reason);
  /// Rejects a frame that breaks a rule. Ends the lanes to and from its source in the group, with
  /// the reason `wrong`.
  void refuse(const LaneFrame& frame, const std::string& wrong);

  /// Records the purpose for which a host uses a channel. If two hosts use the channel for
  /// different purposes, the channel fails. All higher channels fail, too, because the hosts will
  /// use these for different purposes as well.
  void compare_signatures(GroupState& group, std::uint64_t channel,
                          const GroupState::Meaning& said);
  /// Fails channels on this host only.
  void end_channels(GroupState& group, const Channels& which, const std::string& why,
                    FailureCause cause);
  /// Fails channels on this host, and reports their failure to the peers.
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
