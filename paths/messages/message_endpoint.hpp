// SPDX-License-Identifier: Apache-2.0
// paths/messages/message_endpoint.hpp — messages between any two hosts of a run, without a path
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paths/messages/channel_failures.hpp"
#include "paths/messages/channels/outgoing_lanes.hpp"
#include "paths/messages/credit_issuer.hpp"
#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/frame_delivery.hpp"
#include "paths/messages/gathering.hpp"
#include "paths/messages/group.hpp"
#include "paths/messages/group_calls.hpp"
#include "paths/messages/group_control.hpp"
#include "paths/messages/group_table.hpp"
#include "paths/messages/lost_hosts.hpp"
#include "paths/messages/membership.hpp"
#include "paths/messages/message_clock.hpp"
#include "paths/messages/phases/run_phases.hpp"
#include "runtime/processes/process_end.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Endpoint of one host for messages that hosts exchange without a path, because declared paths are
/// trees and some traffic fits no tree. The endpoint sends and receives messages. It also passes on
/// messages of other hosts between clusters.
///
/// The size of its state depends on the groups, hosts and links in use, not on pairs of hosts.
///
/// Why: Messages cross the same links, exits and gateways as paths, and share the capacity with
///      paths (Bongo et al. 2004, §III-A and §V-D).
/// Units: times of the runtime's clock. On the steady clock they are ideal times
///        (paths/links/link_scheduler.hpp).
/// Thread-safe: all functions.
/// Context: due work is done as described in MessageClock.
class MessageEndpoint {
 public:
  /// All arguments outlive the endpoint. `plan` is the plan of the run; it numbers the hosts.
  /// Emulated switches have the numbers after the last host. The endpoint of a switch joins no
  /// group and only passes frames on. `cores` are the simulated cores that the host shares; nullptr
  /// if it shares none.
  MessageEndpoint(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
                  EmulatedLinks& links, LaneCarrier& carrier, SimulatedCores* cores = nullptr);
  ~MessageEndpoint();  ///< calls stop()
  MessageEndpoint(const MessageEndpoint&) = delete;
  MessageEndpoint& operator=(const MessageEndpoint&) = delete;

  /// Joins the group `name`. All hosts of the group must join it, in any order, with the same hosts
  /// and options. A name may be used again after the group was left. The n-th use of the name on
  /// each host then belongs to the same group. Does not block.
  ///
  /// Throws: UsageError if `hosts` is empty, contains a host twice, contains an unknown host or
  ///         lacks this host. Also if this host is already in a group with that name, or if there
  ///         is no route between two of the hosts.
  std::unique_ptr<MessageGroup> group(std::string_view name, std::vector<std::uint32_t> hosts,
                                      GroupOptions options = {});
  /// Like group(). If `hosts` is sorted, the group shares it instead of copying it. That saves
  /// memory if one process has thousands of hosts.
  std::unique_ptr<MessageGroup> join(std::string_view name, SharedHosts hosts,
                                     GroupOptions options = {});
  /// Like group(), with hosts by name.
  std::unique_ptr<MessageGroup> group_of(std::string_view name,
                                         const std::vector<std::string>& hosts,
                                         GroupOptions options = {});

  /// Records the frames that leave this host for another cluster. Requires: no frame has left yet.
  void record_transfers(RecorderOf recorder_of);
  /// Sets the function that replies to questions about the threads of this host. Requires: no group
  /// was made yet.
  void answer_for_threads(GroupControl::WhyAbsent why_absent);

  // The carrier calls the following functions. They do not block.

  /// Processes a frame that `from` has sent to this host. The target of the frame is this host or a
  /// host further on.
  void deliver(std::uint32_t from, LaneFrame frame) { delivery_.deliver(from, std::move(frame)); }
  /// Notes that the carrier again has room for frames to a host one step away.
  void room_made(std::uint32_t host);
  /// Notes that a host is lost. Sends and receives that need the host fail, on this host and on
  /// others. If a switch is lost, all hosts behind it are lost, too.
  void host_lost(std::uint32_t host, const std::string& reason);
  /// Notes that a host has ended properly. Other hosts are not notified, because its last frames
  /// may still be on their way through switches.
  void host_ended(std::uint32_t host);

  /// Calls Membership::look_at_neighbours().
  void look_at_neighbours();
  /// Reports the arrival of this host to all other hosts. Does not block. Used if hosts are
  /// processes and the config has the key `lanes`.
  void begin() { phases_.begin(); }
  /// If begin() was called, blocks until all hosts have arrived or are gone, at most for two
  /// deadlines. A host with a connection to a missing host declares it gone one deadline after its
  /// own start. Prints the missing hosts after 5 s, then at growing intervals.
  void await_all() { phases_.await_all(); }

  /// The caller calls finish() after the threads of this host have ended. Leaves all groups, and
  /// blocks until the frames under way have left. With the key `lanes`, also blocks until the
  /// threads of all hosts have ended. Without the key, an exit blocks until the hosts of its
  /// cluster with which it has exchanged frames have ended. Meanwhile this host passes on the
  /// frames of other hosts.
  ///
  /// Each host reports its end to the exit of its cluster. The exits report to each other, in
  /// rounds if there are very many (Hoefler et al. 2006), and then to their hosts.
  ///
  /// On a switch: blocks until each host of its cluster has ended, is gone, or has missed the
  /// deadline.
  ///
  /// Returns an error text; "" if there was no error. It is an error if hosts took part in
  /// different operations of a group, or if a host is gone. A host also counts as gone if its signs
  /// of life state that it has reported its end, but the report does not arrive within a deadline.
  /// If the run has failed, this host waits at most 2 s for hosts that give no sign of life.
  std::string finish(bool has_failed = false);
  /// Returns the progress of this host towards the end: Gathering::progress().
  std::uint64_t end_progress();
  /// Returns the maximum number of bytes of a message in one frame.
  std::uint64_t frame_bytes_max() const;
  /// Stops all transfers.
  void stop() { clock_.stop(); }
  /// Returns whether this process made the endpoint. A forked child process has a copy of the
  /// endpoint's memory, but neither its threads nor its connections.
  bool is_of_this_process() const { return forks_ == runtime::forks_until_here(); }

  struct Use {
    std::uint64_t inbox_issued = 0, inbox_held = 0, inbox_held_most = 0;  ///< bytes
    base::Nanos lateness_lost{0};
  };
  Use use();
  /// Unused credit in bytes, by group and peer: credit that this host has issued, and credit with
  /// which it may send. For tests.
  using Balance = std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;
  Balance credit_issued();
  Balance credit_to_use();

 private:
  friend class MessageGroup;
  void check_hosts(std::string_view name, const std::vector<std::uint32_t>& hosts) const;

  const std::uint32_t forks_ = runtime::forks_until_here();
  // Handles hold weak references to this pointer, by which they notice the end of the endpoint.
  std::shared_ptr<MessageEndpoint> self_{this, [](MessageEndpoint*) {}};
  EndpointState state_;
  OutgoingLanes outgoing_;
  LostHosts lost_;
  Inbox inbox_;  // declared before groups_, because lanes return their credit when they end
  GroupTable groups_;
  CreditIssuer credit_;
  ChannelFailures failures_;
  GroupControl control_;
  Gathering arrivals_;
  Gathering ends_;
  Membership membership_;
  MessageClock clock_;
  FrameDelivery delivery_;
  RunPhases phases_;
  GroupCalls calls_;
};

}  // namespace paths
