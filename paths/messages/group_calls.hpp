// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_calls.hpp — functions of an endpoint that group and message handles call
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "paths/messages/channel_failures.hpp"
#include "paths/messages/channels/outgoing_lanes.hpp"
#include "paths/messages/credit_issuer.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/group_control.hpp"
#include "paths/messages/group_table.hpp"
#include "paths/messages/lost_hosts.hpp"
#include "paths/messages/message_clock.hpp"

namespace paths {

/// Implements the functions of MessageGroup (paths/messages/group.hpp) and of its handles on the
/// endpoint. Callers identify a group by its id.
///
/// Thread-safe: all functions.
class GroupCalls {
 public:
  /// The parts of the endpoint that GroupCalls uses. All outlive the GroupCalls object.
  struct Parts {
    EndpointState& state;
    GroupTable& groups;
    CreditIssuer& credit;
    ChannelFailures& failures;
    GroupControl& control;
    OutgoingLanes& outgoing;
    LostHosts& lost;
    MessageClock& clock;
  };
  explicit GroupCalls(const Parts& parts) : parts_(parts), state_(parts.state) {}

  /// Makes a group and returns its id.
  /// Requires: the caller has checked the hosts.
  /// Throws: UsageError if this host is already in a group with that name.
  std::uint64_t join(std::string_view name, SharedHosts hosts, const GroupOptions& options);
  void send(std::uint64_t group, std::uint32_t to, const NamedMessage& which, base::Payload message,
            const std::shared_ptr<LaneWait>& wait);
  void receive(std::uint64_t group, std::uint32_t from, const NamedMessage& which,
               const std::shared_ptr<LaneWait>& wait);
  bool is_paced(std::uint32_t to);
  void work(base::Nanos time, std::uint64_t order, const std::shared_ptr<LaneWait>& wait);
  /// Notes that the caller has dropped the handle of a message. The endpoint then no longer uses
  /// the caller's memory.
  void let_go(LaneWait& wait);
  /// Returns the object in which the handle of a group notes channels that have ended.
  std::shared_ptr<EndedChannels> ended_channels(std::uint64_t group);
  void close(std::uint64_t group, std::uint64_t channel, std::shared_ptr<const std::string> what,
             std::uint64_t signature_digest);
  void fail(std::uint64_t group, const Channels& which, const std::string& why, FailureCause cause);
  void ask(std::uint64_t group, const LaneQuestion& question);
  /// Returns the waits of the messages that this host has not sent yet.
  EndpointState::Waits unsent(std::uint64_t group);
  void leave(std::uint64_t group, const std::string& why = "", const Participation& part = {});
  /// Leaves all groups.
  void leave_all();
  /// Waits until a message was sent or received. `what` names the message in errors.
  /// Blocks: until the message was sent or received, at most until `given` or the config's
  ///         deadline.
  /// Throws: TravelError if the message has failed or the time has passed.
  void wait(LaneWait& one, const std::string& what,
            runtime::Deadline given = runtime::Deadline::never());
  /// Returns the known causes for which messages may not arrive; "" if there are none.
  std::string known_cause_text() const;

 private:
  std::string cause_of_leaving(const GroupState& group) const;
  void leave_peer(GroupState& group, std::uint32_t peer, LaneFrame left);
  std::string silent_switch_text() const;

  const Parts parts_;
  EndpointState& state_;
};

}  // namespace paths
