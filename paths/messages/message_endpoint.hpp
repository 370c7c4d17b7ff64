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

/// Endpoint of one host for messages that hosts exchange without a path. The endpoint sends and
/// receives messages. It also forwards messages of other hosts between clusters. Messages cross the
/// same links, exits and gateways as operations on paths, and share the capacity with them.
///
/// The size of its state depends on the groups, hosts and links in use, not on pairs of hosts.
///
/// Why: declared paths are trees, and some traffic fits no tree.
/// Units: times of the runtime's clock. On the steady clock they are ideal times
///        (paths/links/link_scheduler.hpp).
/// Thread-safe: all functions.
/// Context: due work is done as described in MessageClock.
/// Paper: Bongo et al. 2004, §III-A and §V-D, describes the links, exits and gateways.
class MessageEndpoint {
 public:
  /// `plan` is the plan of the run. `host` is the number of a host in the plan, or of an emulated
  /// switch. Switches have the numbers after the last host. The endpoint of a switch joins no
  /// group, and only forwards frames. `cores` are the simulated cores that the host shares with
  /// other hosts; nullptr if it shares none.
  /// Requires: all arguments outlive the endpoint.
  MessageEndpoint(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
                  EmulatedLinks& links, LaneCarrier& carrier, SimulatedCores* cores = nullptr);
  ~MessageEndpoint();  ///< calls stop()
  MessageEndpoint(const MessageEndpoint&) = delete;
  MessageEndpoint& operator=(const MessageEndpoint&) = delete;

  /// Joins the group `name`. All hosts of the group must join the group, in any order, with the
  /// same hosts and options. A name may be used again after this host has left the group. The n-th
  /// use of a name on each host belongs to the same group. Does not block.
  ///
  /// Throws: UsageError if `hosts` is empty, contains a host twice, contains an unknown host or
  ///         lacks this host. UsageError also if this host is already in a group with that name, or
  ///         if there is no route between this host and another host of the group. TravelError if
  ///         the process is not allowed to open enough descriptors for the messages of the group.
  std::unique_ptr<MessageGroup> group(std::string_view name, std::vector<std::uint32_t> hosts,
                                      GroupOptions options = {});
  /// Joins a group, like group(). If `hosts` is sorted, the group shares the list instead of
  /// copying it. Sharing saves memory if one process has thousands of hosts.
  std::unique_ptr<MessageGroup> join(std::string_view name, SharedHosts hosts,
                                     GroupOptions options = {});
  /// Joins a group, like group(). `hosts` contains the names of the hosts.
  std::unique_ptr<MessageGroup> group_of(std::string_view name,
                                         const std::vector<std::string>& hosts,
                                         GroupOptions options = {});

  /// Records the frames that leave this host for another cluster.
  /// Requires: no frame has left yet.
  void record_transfers(RecorderOf recorder_of);
  /// Sets the function that replies to questions about the threads of this host.
  /// Requires: no group has been made yet.
  void answer_for_threads(GroupControl::WhyAbsent why_absent);

  // The carrier calls the following four functions. They do not block.

  /// Processes a frame that has arrived from the neighbour `from`. The target of the frame is this
  /// host, or a later host on the route of the frame.
  void deliver(std::uint32_t from, LaneFrame frame) { delivery_.deliver(from, std::move(frame)); }
  /// Notes that the carrier has room again for frames to the neighbour `host`.
  void room_made(std::uint32_t host);
  /// Notes that a host or switch is lost. Sends and receives that need it fail, on this host and on
  /// other hosts. If a switch is lost, all lanes through the switch end.
  void host_lost(std::uint32_t host, const std::string& reason);
  /// Notes that a host has ended properly. Does not notify other hosts, because the last frames of
  /// the ended host may still be under way through switches.
  void host_ended(std::uint32_t host);

  /// Calls Membership::look_at_neighbours().
  void look_at_neighbours();
  /// Reports the arrival of this host to all other hosts. Does not block. The host calls begin()
  /// only if hosts are processes and the config has the key `lanes`.
  void begin() { phases_.begin(); }
  /// Waits until all hosts have arrived or are gone. Returns immediately if begin() was not called.
  /// A host that expects a connection with a missing host declares it gone one deadline after its
  /// own start. Prints the missing hosts after 5 s, then at growing intervals.
  /// Blocks: at most until twice the deadline of the config has passed since begin().
  void await_all() { phases_.await_all(); }

  /// Leaves all groups and ends the exchange of messages. While finish() blocks, this host forwards
  /// the frames of other hosts.
  ///
  /// With the key `lanes`, each host reports the end of its threads to the exit of its cluster. The
  /// exits report to each other, in rounds if there are very many clusters (Hoefler et al. 2006),
  /// and then to the hosts of their clusters.
  ///
  /// Returns an error text; "" if there was no error. It is an error if hosts took part in
  /// different operations of a group, or if a host is gone. A host counts as gone if it was silent
  /// for the length of the deadline; if the run has failed, for at most 1 s. A host also counts as
  /// gone if the report of its end is overdue. The report is overdue if a sign of life of the host
  /// states that the report was sent, but the report does not arrive within half a deadline.
  ///
  /// Blocks: until the frames under way have left. With the key `lanes`, also until the threads of
  ///         all hosts have ended. Without the key, on an exit, also until the hosts of its cluster
  ///         with which it has exchanged frames have ended. On a switch, also until each host of
  ///         its cluster has ended, is gone, or has missed the deadline.
  /// Requires: the threads of this host have ended.
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
    std::uint64_t inbox_issued = 0, inbox_held = 0, inbox_held_most = 0;  ///< bytes; see Inbox
    base::Nanos lateness_lost{0};
  };
  Use use();
  /// Unused credit in bytes, keyed by group and peer. credit_issued() returns the credit that this
  /// host has issued. credit_to_use() returns the credit with which this host may send. For tests.
  using Balance = std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;
  Balance credit_issued();
  Balance credit_to_use();

 private:
  friend class MessageGroup;
  void check_hosts(std::string_view name, const std::vector<std::uint32_t>& hosts) const;

  const std::uint32_t forks_ = runtime::forks_until_here();
  // Handles hold weak references to this pointer, so that they notice the end of the endpoint.
  std::shared_ptr<MessageEndpoint> self_{this, [](MessageEndpoint*) {}};
  EndpointState state_;
  OutgoingLanes outgoing_;
  LostHosts lost_;
  Inbox inbox_;  // declared before groups_, so that it outlives the lanes, which refer to it
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
