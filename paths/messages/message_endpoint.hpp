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
#include "paths/messages/run_phases.hpp"
#include "runtime/processes/process_end.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Declared paths are trees; some traffic fits no tree. MessageEndpoint is one host's end of all
/// messages between hosts without a path: sent, received, and passed on between clusters.
///
/// Its state grows with groups, hosts and links in use, never with pairs of hosts.
///
/// Why: messages cross the same links, exits and gateways as paths, and share their capacity (Bongo
///      et al. 2004, §III-A and §V-D).
/// Units: times are of the runtime's clock. On the steady clock they are ideal times
///        (paths/links/link_scheduler.hpp).
/// Thread-safe: all functions.
/// Context: the MessageClock does due work.
class MessageEndpoint {
 public:
  /// All arguments outlive the endpoint. `plan` is the plan of the run and numbers the hosts. An
  /// emulated switch has a number behind the hosts; its endpoint joins no group and only passes
  /// frames on.
  MessageEndpoint(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
                  EmulatedLinks& links, LaneCarrier& carrier);
  ~MessageEndpoint();  ///< calls stop()
  MessageEndpoint(const MessageEndpoint&) = delete;
  MessageEndpoint& operator=(const MessageEndpoint&) = delete;

  /// Joins the group of that name. All its hosts join it in any order, with the same hosts and
  /// options. A name may be reused after the group was left; the n-th use on each host belongs
  /// together. Does not block.
  ///
  /// Throws: UsageError if `hosts` is empty, names a host twice, names an unknown host or lacks
  ///         this host. Also if this host is in a group of that name, or if there is no way between
  ///         two of the hosts.
  std::unique_ptr<MessageGroup> group(std::string_view name, std::vector<std::uint32_t> hosts,
                                      GroupOptions options = {});
  /// Like group(). If `hosts` is sorted, it is shared, not copied, which saves memory with
  /// thousands of hosts in one process.
  std::unique_ptr<MessageGroup> join(std::string_view name, SharedHosts hosts,
                                     GroupOptions options = {});
  /// Like group(), with hosts by name.
  std::unique_ptr<MessageGroup> group_of(std::string_view name,
                                         const std::vector<std::string>& hosts,
                                         GroupOptions options = {});

  /// Records frames that cross from here to another cluster. Requires: no frame has crossed yet.
  void record_transfers(RecorderOf recorder_of);
  /// Sets the function that replies to questions about threads of this host. Requires: no group was
  /// made yet.
  void answer_for_threads(GroupControl::WhyAbsent why_absent);

  // Called by the carrier. They do not block.

  /// Takes a frame that `from` passed on, for this host or for a host further on.
  void deliver(std::uint32_t from, LaneFrame frame) { delivery_.deliver(from, std::move(frame)); }
  /// Notes that the carrier has room again for frames to a host one step away.
  void room_made(std::uint32_t host);
  /// Notes that a host is lost. Waits for it fail, here and on other hosts. If a switch is lost,
  /// all hosts behind it are lost, too.
  void host_lost(std::uint32_t host, const std::string& reason);
  /// Notes that a host has ended as it should. Its last frames may still be on their way through
  /// switches, so other hosts are not notified.
  void host_ended(std::uint32_t host);

  /// Calls Membership::look_at_neighbours().
  void look_at_neighbours();
  /// Reports the arrival of this host to all others. Does not block. Used by hosts that are
  /// processes if the config has the key `lanes`.
  void begin() { phases_.begin(); }
  /// Blocks until all hosts have arrived or are gone, if begin() was called; at most two deadlines.
  /// A host that connects to a missing host counts it as gone one deadline after its own start.
  /// Prints the missing hosts after 5 s, then at growing intervals.
  void await_all() { phases_.await_all(); }

  /// Leaves all groups after this host's threads have ended, and waits until the frames under way
  /// have left. With the key `lanes`, also blocks until the threads of all hosts have ended, and
  /// meanwhile passes on their frames.
  ///
  /// Hosts report to the exits of their clusters. The exits report to each other, in rounds if
  /// there are very many (Hoefler et al. 2006), and then to their hosts.
  ///
  /// On a switch: blocks until each host of its cluster has ended, is gone, or has missed the
  /// deadline.
  ///
  /// Returns an error text; "" if there was no error. Errors are: hosts took part in different
  /// operations of a group, or a host is gone. A host also counts as gone if it reports that its
  /// threads have ended, but the frame with that news does not arrive within a deadline. If the run
  /// has failed, hosts without a sign of life are given up after 2 s.
  std::string finish(bool has_failed = false);
  /// Returns how far the end has progressed on this host: Gathering::progress().
  std::uint64_t end_progress();
  /// Stops all transfers.
  void stop() { clock_.stop(); }
  /// Whether this host used lanes or passed on their frames.
  bool in_use();
  /// Whether this process made the endpoint. A forked child has its memory, but neither its threads
  /// nor its connections.
  bool is_of_this_process() const { return forks_ == runtime::forks_until_here(); }

  struct Use {
    std::uint64_t inbox_issued = 0, inbox_held = 0, inbox_held_most = 0;  ///< bytes
    std::uint64_t frames = 0;  ///< received data frames, for this host or others
    std::uint64_t control = 0;
    base::Nanos lateness_lost{0};
  };
  Use use();
  /// Bytes of credit by (group, peer): issued and unused here, and usable for sending. For tests.
  using Balance = std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;
  Balance credit_issued();
  Balance credit_to_use();

 private:
  friend class MessageGroup;
  friend class LaneHandle;
  void check_hosts(std::string_view name, const std::vector<std::uint32_t>& hosts) const;

  const std::uint32_t forks_ = runtime::forks_until_here();
  std::shared_ptr<MessageEndpoint> self_{this, [](MessageEndpoint*) {}};  // observed by handles
  EndpointState state_;
  OutgoingLanes outgoing_;
  LostHosts lost_;
  Inbox inbox_;  // declared before groups_: lanes return their credit when they end
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
