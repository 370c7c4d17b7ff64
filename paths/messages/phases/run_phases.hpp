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
/// Thread-safe: all functions. Each function may be called only once.
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
  /// Waits until all hosts have arrived or are gone. Returns immediately if begin() was not called.
  /// Prints the missing hosts after 5 s, then at growing intervals.
  /// Blocks: at most until twice the `deadline` of the config has passed since begin(). Then
  ///         returns without an error.
  void await_all();
  /// Ends the exchange of messages, as described at MessageEndpoint::finish(). Returns an error
  /// text;
  /// "" if there was no error.
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
  // Time at which await_all() returns even if hosts are missing.
  runtime::Deadline begins_by_ = runtime::Deadline::never();
  std::optional<HostWatch> watch_;  // nullopt if this is a simulated host
  std::string wrong_;
};

}  // namespace paths
