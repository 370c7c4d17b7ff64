// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_control.hpp — control frames between the hosts of a group
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paths/messages/channel_failures.hpp"
#include "paths/messages/channels/outgoing_lanes.hpp"
#include "paths/messages/credit_issuer.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/group_table.hpp"

namespace paths {

/// Processes the control frames of groups: credit, grants, questions, failures, and farewells of
/// hosts that leave. Keeps the control frames of groups that this host has not made yet.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class GroupControl {
 public:
  /// Function that returns why one of the listed threads of this host will never join a group; ""
  /// if all listed threads may still join. GroupControl calls the function with the endpoint's
  /// mutex held.
  using WhyAbsent = std::function<std::string(std::string_view threads)>;

  /// The parts of the endpoint that GroupControl uses. All outlive the GroupControl object.
  struct Parts {
    EndpointState& state;
    GroupTable& groups;
    CreditIssuer& credit;
    ChannelFailures& failures;
    OutgoingLanes& outgoing;
  };
  explicit GroupControl(const Parts& parts) : parts_(parts) {}

  /// Sets the function that replies to questions about threads.
  /// Requires: no group has been made yet.
  void answer_for_threads(WhyAbsent why_absent) { why_absent_ = std::move(why_absent); }
  /// Processes a control frame that arrived at the time `moment`.
  void take(LaneFrame frame, base::Nanos moment);
  /// Processes the frames that arrived before the group was made on this host.
  void take_early(std::uint64_t group);
  /// Notes that the threads of this host have ended. This host will never make the groups whose
  /// frames it has kept, and replies to these frames.
  void end_threads();
  /// Sends a question to the hosts for which a channel waits.
  void ask(GroupState& group, const LaneQuestion& question);
  /// Returns a farewell: the frame that reports to a peer that this host has left a group.
  LaneFrame farewell(std::uint32_t peer, std::uint64_t group, const Participation& part) const;

 private:
  void take_of_ended(const GroupTable::Ended& ended, const LaneFrame& frame);
  void take_permission(GroupState& group, const LaneFrame& frame, base::Nanos moment);
  void take_grant(OutboundChannel& lane, const LaneFrame& frame);
  void take_question(GroupState& group, const LaneFrame& frame);
  void take_farewell(GroupState& group, const LaneFrame& frame);
  void keep_for_later(LaneFrame frame);
  std::size_t early_bytes_max() const;
  std::string why_never_here(const LaneFrame& frame) const;
  std::string why_never_split(const LaneFrame& question) const;

  const Parts parts_;
  WhyAbsent why_absent_;
  bool have_threads_ended_ = false;
  // Frames that arrived for groups that this host has not made yet, keyed by group.
  std::map<std::uint64_t, std::vector<LaneFrame>> early_;
  std::map<std::uint32_t, std::size_t> early_bytes_;  // approximate bytes in early_, by source
};

}  // namespace paths
