// SPDX-License-Identifier: Apache-2.0
// paths/messages/message_endpoint.hpp — messages from any host to any other, without a path.
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

/// The lanes of one host: what it sends, what it receives, and what passes it on the way between
/// clusters. State grows with groups, hosts and links in use, never with pairs of hosts.
///
/// Why:     declared paths are trees; what has none still crosses the same links, exits and
///          gateways (Bongo et al. 2004, §III-A and §V-D), and takes them from each other.
/// Time:    of the runtime's clock; on the steady one moments are ideal ones (departures.hpp).
/// Context: what is due is done by the MessageClock.
/// Sharing: any context may call anything.
class MessageEndpoint {
 public:
  /// All outlive it. `plan` is the run's, which counts the hosts. The endpoint of an emulated
  /// switch, which has its number, is in no group: what is delivered passes it.
  MessageEndpoint(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
                  EmulatedLinks& links, LaneCarrier& carrier);
  ~MessageEndpoint();  ///< stop()
  MessageEndpoint(const MessageEndpoint&) = delete;
  MessageEndpoint& operator=(const MessageEndpoint&) = delete;

  /// Joins the group of that name, which all its hosts do, in any order, with the same hosts and
  /// options. A name may be used again when the group was left; the n-th use of each host belongs
  /// together. Does not block. Throws UsageError if the list of hosts is empty, names a host twice
  /// or one that the run does not have, or lacks this host; if the host is in a group of that name;
  /// and if there is no way between two of the hosts.
  std::unique_ptr<MessageGroup> group(std::string_view name, std::vector<std::uint32_t> hosts,
                                      GroupOptions options = {});
  /// The same; what is rising already is shared, which counts where thousands are in one process.
  std::unique_ptr<MessageGroup> join(std::string_view name, SharedHosts hosts,
                                     GroupOptions options = {});
  /// The same of hosts by name.
  std::unique_ptr<MessageGroup> group_of(std::string_view name,
                                         const std::vector<std::string>& hosts,
                                         GroupOptions options = {});

  /// Records frames that cross from here to another cluster. To be called before the first one.
  void record_transfers(RecorderOf recorder_of);
  /// Has questions about threads of this host answered. Before any group is made.
  void answer_for_threads(GroupControl::WhyAbsent why_absent);

  // Called by the carrier. They do not block.

  /// Takes a frame that `from` handed over for this host, or for one further on.
  void deliver(std::uint32_t from, LaneFrame frame) { delivery_.deliver(from, std::move(frame)); }
  /// Its carrier had no room for what goes to a host that is one step away, and has some.
  void room_made(std::uint32_t host);
  /// A host is lost: waits for it fail, here and on other hosts. If a switch is lost, all hosts
  /// behind it are lost, too.
  void host_lost(std::uint32_t host, const std::string& reason);
  /// The same of one that has ended as it should. What it sent before is still on its way where it
  /// passes switches, which therefore tell nobody.
  void host_ended(std::uint32_t host);

  /// Membership::look_at_neighbours().
  void look_at_neighbours();
  /// Reports the arrival of this host to all others, as finish() reports the end of its threads.
  /// For hosts that are processes, if the config has the key `lanes`. Does not block.
  void begin() { phases_.begin(); }
  /// Blocks until all hosts have arrived or are gone, if begin() was called: two deadlines at most.
  /// (A host that is missing is gone a deadline after the start of the host that connects to it.)
  /// Prints what it waits for after 5 s, then ever less often.
  void await_all() { phases_.await_all(); }

  /// This host's threads have ended: leaves the groups it is in, and sees off what is on its way.
  /// If the config has the key `lanes`, then also blocks until the threads of all hosts have ended,
  /// passing on meanwhile what they send each other. Hosts tell the exits of their clusters, those
  /// tell each other, where they are very many in rounds (Hoefler et al. 2006), and then their
  /// hosts.
  /// Of a switch: blocks until all hosts of its cluster have ended, or are gone, or have not come
  /// before the deadline; then sees off what is on its way.
  /// Returns what went wrong, "" = nothing: hosts took part in different operations of a group, or
  /// a host is gone. A host that reports that its threads have ended counts as gone, too, if its
  /// frame of that does not arrive within a deadline. If the run has failed, hosts without a sign
  /// of life are given up after 2 s.
  std::string finish(bool has_failed = false);
  /// How far the end has got here: Gathering::progress().
  std::uint64_t end_progress();
  /// From here on nothing moves.
  void stop() { clock_.stop(); }
  /// Whether lanes were used here, or passed.
  bool in_use();
  /// One made by fork has the memory, but neither the threads nor the connections.
  bool is_of_this_process() const { return forks_ == runtime::forks_until_here(); }

  struct Use {
    std::uint64_t inbox_issued = 0, inbox_held = 0, inbox_held_most = 0;  ///< bytes
    std::uint64_t frames = 0;  ///< that came, for this host or others
    std::uint64_t control = 0;
    base::Nanos lateness_lost{0};
  };
  Use use();
  /// Credit here and there of each lane, for tests: (group, peer) to bytes that may still be used.
  using Balance = std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;
  Balance credit_issued();
  Balance credit_to_use();

 private:
  friend class MessageGroup;
  friend class LaneHandle;
  void check_hosts(std::string_view name, const std::vector<std::uint32_t>& hosts) const;

  const std::uint32_t forks_ = runtime::forks_until_here();
  std::shared_ptr<MessageEndpoint> self_{
      this, [](MessageEndpoint*) {}};  // by which handles know that it is there
  EndpointState state_;
  OutgoingLanes outgoing_;
  LostHosts lost_;
  Inbox inbox_;  // lanes of groups return their credit when they end
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
