// SPDX-License-Identifier: Apache-2.0
// paths/messages/frame_delivery.hpp — delivery or forwarding of incoming frames
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>

#include "paths/messages/channel_failures.hpp"
#include "paths/messages/credit_issuer.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/gathering.hpp"
#include "paths/messages/group_control.hpp"
#include "paths/messages/group_table.hpp"
#include "paths/messages/membership.hpp"
#include "paths/messages/message_clock.hpp"

namespace paths {

/// Receives the frames that neighbours send to this host. Delivers the frames whose target is this
/// host. Forwards all other frames to the next host on their route. Delays delivered and forwarded
/// frames as emulated links require.
///
/// Thread-safe: deliver(). when_all_has_come() requires the mutex of the endpoint.
class FrameDelivery {
 public:
  /// The parts of the endpoint that FrameDelivery uses. All outlive the FrameDelivery object.
  struct Parts {
    EndpointState& state;
    GroupTable& groups;
    CreditIssuer& credit;
    ChannelFailures& failures;
    GroupControl& control;
    Membership& membership;
    Gathering& arrivals;
    Gathering& ends;
    MessageClock& clock;
  };
  /// `receiving` is the emulated link through which this host receives frames; nullptr if there is
  /// no such link.
  FrameDelivery(const Parts& parts, std::shared_ptr<EmulatedLink> receiving)
      : parts_(parts), state_(parts.state), receiving_(std::move(receiving)) {}

  void deliver(std::uint32_t from, LaneFrame frame);
  /// Does `work` after all frames of earlier deliver() calls have arrived. Emulated links may delay
  /// these frames.
  void when_all_has_come(const DueQueue::Work& work);

 private:
  bool has_way(const LaneFrame& frame) const;
  bool forwards(std::uint32_t from, std::uint32_t source);
  bool comes_by_network(std::uint32_t from) const;
  void pass(bool is_received, base::Nanos came, LaneFrame frame);
  void charge(base::Nanos came, LaneFrame frame);
  void take_control(LaneFrame frame, base::Nanos moment);
  void take_data(LaneFrame frame);
  std::string wrong_place(const GroupState& group, const LaneFrame& frame) const;

  const Parts parts_;
  EndpointState& state_;
  const std::shared_ptr<EmulatedLink> receiving_;
  // Pairs of arguments for which forwards() has returned true: a source, and a host or switch
  // through which frames of the source reach this host. Each pair is packed into one number.
  std::unordered_set<std::uint64_t> known_ways_;
  base::Nanos all_come_by_{0};  // time at which all frames of earlier deliver() calls have arrived
};

}  // namespace paths
