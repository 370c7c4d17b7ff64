// SPDX-License-Identifier: Apache-2.0
// paths/messages/phases/run_phases.hpp — joint beginning and joint end of the hosts of a run
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "paths/messages/channel_failures.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/gathering.hpp"
#include "paths/messages/group_control.hpp"
#include "paths/messages/lost_hosts.hpp"
#include "paths/messages/membership.hpp"
#include "paths/messages/message_clock.hpp"
#include "paths/messages/phases/host_watch.hpp"

namespace paths {

/// Waits until all hosts of a run have arrived, and later until the threads of all hosts have
/// ended.
///
/// Thread-safe: all functions. Each must be called at most once.
class RunPhases {
 public:
  /// The parts of the endpoint that RunPhases uses. All outlive the RunPhases object.
  struct Parts {
    EndpointState& state;
    LostHosts& lost;
    Membership& membership;
    Gathering& arrivals;
    Gathering& ends;
    GroupControl& control;
    ChannelFailures& failures;
    MessageClock& clock;
  };
  explicit RunPhases(const Parts& parts);

  /// Reports the arrival of this host to all other hosts. Does not block.
  void begin();
  /// If begin() was called, blocks until all hosts have arrived or are gone. Also returns, without
  /// an error, if twice the `deadline` of the config has passed since begin(). Prints the missing
  /// hosts after 5 s, then at growing intervals.
  void await_all();
  /// Blocks until the threads of all hosts have ended. See MessageEndpoint::finish(). Returns an
  /// error text; "" if there was no error.
  std::string finish(bool has_failed);

 private:
  void finish_host(runtime::Lock& lock, bool has_failed);
  void finish_switch(runtime::Lock& lock);
  void forward_for_neighbours(runtime::Lock& lock, bool has_failed);
  void await_end(runtime::Lock& lock, bool has_failed);
  void drain(runtime::Lock& lock, bool has_failed);
  runtime::Deadline next_look(bool has_failed) const;
  runtime::Deadline deadline_after(base::Nanos span) const;
  base::Nanos end_time(bool has_failed) const;
  void note_wrong(const std::string& what);

  const Parts parts_;
  EndpointState& state_;
  // Time at which the threads of this host start even if other hosts are missing.
  runtime::Deadline begins_by_ = runtime::Deadline::never();
  std::optional<HostWatch> watch_;  // nullopt if the host is simulated
  std::string wrong_;
};

}  // namespace paths
