// SPDX-License-Identifier: Apache-2.0
// paths/messages/phases/host_watch.hpp — detection of hosts that die while this host waits for them
#pragma once
#include <cstdint>
#include <map>

#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/gathering.hpp"
#include "paths/messages/lost_hosts.hpp"
#include "paths/messages/membership.hpp"
#include "paths/messages/message_clock.hpp"

namespace paths {

/// Finds hosts that have died without a report. Such a search is needed at the end of a run. This
/// host then sends no messages, and would not notice that another host does not reply.
///
/// Thread-safe: no. The mutex of the endpoint guards it.
class HostWatch {
 public:
  /// The parts of the endpoint that HostWatch uses. All outlive the HostWatch object.
  struct Parts {
    EndpointState& state;
    LostHosts& lost;
    Membership& membership;
    Gathering& ends;
    MessageClock& clock;
  };
  explicit HostWatch(const Parts& parts) : parts_(parts), state_(parts.state) {}

  /// Opens connections to all hosts for whose reports this host waits as the exit of its cluster.
  /// Without a connection, this host would not notice the loss of such a host.
  void look_at_all();
  /// Asks all hosts for a sign of life. Hosts that were silent for `silent_max` count as lost.
  /// Unlocks the mutex while it asks.
  void lose_silent(runtime::Lock& lock, base::Nanos silent_max);
  /// Counts a host as lost if the report of its end is overdue. The report is overdue if the host
  /// states in its signs of life that it has sent the report, but the report has not arrived within
  /// half of `longest`. Without this function, both hosts would wait for ever.
  void lose_overdue(base::Nanos longest);

 private:
  const Parts parts_;
  EndpointState& state_;
  // Hosts that state that they have sent the report of their end, although the report has not
  // arrived. The value is the time at which this host first noticed this.
  std::map<std::uint32_t, base::Nanos> overdue_;
};

}  // namespace paths
