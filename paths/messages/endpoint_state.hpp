// SPDX-License-Identifier: Apache-2.0
// paths/messages/endpoint_state.hpp — state shared by the parts of a message endpoint
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paths/links/due_queue.hpp"
#include "paths/links/emulated_links.hpp"
#include "paths/links/link_scheduler.hpp"
#include "paths/messages/channels/charged_processor.hpp"
#include "paths/messages/group.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wire/lane_frame.hpp"
#include "paths/wire/rejection_log.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Carries frames from a host to the next host on their route.
class LaneCarrier {
 public:
  virtual ~LaneCarrier() = default;
  /// Sends a frame to `host`, the next host on its route. Frames to the same host arrive in the
  /// order of the calls. The first call for a host opens the connection. Never blocks.
  virtual void send(std::uint32_t host, LaneFrame frame) = 0;
  /// Returns whether has_room() is meaningful for `host`. If not, the carrier queues all frames.
  virtual bool reports_room(std::uint32_t /*host*/) const { return false; }
  /// Returns whether the carrier would send a further frame to `host` immediately. If not, the
  /// carrier calls MessageEndpoint::room_made() later, but not within this function.
  virtual bool has_room(std::uint32_t /*host*/) { return true; }
  /// Returns the hosts that have given no sign of life although a frame was sent to them.
  virtual std::set<std::uint32_t> silent() const { return {}; }
  /// Asks each connected host for a sign of life if the last request was long enough ago. Returns
  /// the hosts that have given no sign of life for `silent_max`, each with a text about its state.
  /// The wait at the end of the run ignores the returned hosts. Has an effect on the steady clock
  /// only.
  virtual std::map<std::uint32_t, std::string> look_after(base::Nanos /*silent_max*/) { return {}; }
  /// Notes that a host is gone. The wait at the end of the run ignores this host.
  /// Requires: the mutex of the endpoint is held.
  virtual void forget(std::uint32_t /*host*/) {}
  /// Returns the MessageEndpoint::end_progress() that `host` reported in its last sign of life.
  virtual std::uint64_t end_progress(std::uint32_t /*host*/) const { return 0; }
  /// Returns whether `host` has replied on a connection of this host, or has made a connection to
  /// this host. Returns false if `host` is known to be gone.
  virtual bool has_heard(std::uint32_t /*host*/) const { return false; }

  /// Checks that this process may open a connection in each direction with each of `neighbours`.
  /// Throws TravelError if not. nullptr = there is no limit.
  std::function<void(const std::set<std::uint32_t>& neighbours)> check_connections;
  /// Log of rejected peers, which the carrier shares with the endpoint; nullptr if the carrier has
  /// no log.
  RejectionLog* rejections = nullptr;
};

/// State that the parts of an endpoint share: the position of the endpoint in the run, its mutex,
/// and its outgoing frames.
///
/// Units: on the steady clock, all times are ideal times (paths/links/link_scheduler.hpp).
/// Thread-safe: `mutex` guards due_queue, link_scheduler, processor and ended. All other members
///              are constant.
class EndpointState {
 public:
  using Waits = std::vector<std::shared_ptr<LaneWait>>;

  /// `host` is the number of a host in the plan of the run, or the number of a switch.
  /// Requires: all arguments outlive this object.
  EndpointState(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
                EmulatedLinks& links, LaneCarrier& carrier);

  /// Returns whether this is the endpoint of an emulated switch.
  bool is_switch() const { return host >= plan->hosts.size(); }
  /// Returns the cluster of the host.
  /// Requires: this is not the endpoint of a switch.
  std::uint32_t cluster() const { return plan->hosts[host].cluster; }
  /// Returns whether hosts watch each other for signs of life. Returns false on the virtual clock,
  /// because all hosts are then in this process.
  bool watches_hosts() const { return !runtime.is_virtual(); }
  /// Returns whether a route to `target` may lead through this host.
  bool leads_to(std::uint32_t target) const;
  /// Returns the maximum duration by which a time in a frame of another process may lie in the
  /// future. A time that lies further in the future is reduced to this maximum. The maximum is
  /// longer than all waits of this host. On the virtual clock there is no
  /// limit.
  base::Nanos farthest() const;
  runtime::Deadline deadline() const;
  std::string name_of(std::uint32_t place) const;

  /// Returns a control frame from this host.
  LaneFrame control(LaneKind kind, std::uint32_t target, std::uint64_t group) const;
  /// Returns a frame that reports the loss of the host `lost`.
  LaneFrame lost_frame(std::uint32_t target, std::uint32_t lost, const std::string& why) const;
  /// Sends a frame to the next host on its route.
  void post(LaneFrame frame) { link_scheduler.depart(std::move(frame), runtime.now()); }
  /// Sends a frame directly to the neighbour `place`, without an emulated link.
  void post_to_neighbour(std::uint32_t place, LaneFrame frame) {
    link_scheduler.leaving().emplace_back(place, std::move(frame));
  }
  /// Returns whether this host has no work except checks of other hosts. The host may end only if
  /// it has no other work.
  bool is_quiet() const {
    return due_queue.has_only_checks() && (processor == nullptr || !processor->works_elsewhere());
  }
  /// Does all work whose due time has passed, in the order of due times. Does nothing on the
  /// virtual clock, because the service context does all work there.
  void catch_up();
  /// Puts `work` into the due queue for the time `moment`. If this time has passed and no earlier
  /// work waits, does the work immediately.
  template <class Work>
  void at(base::Nanos moment, Work work) {
    if (due_queue.is_behind(moment) || moment > runtime.now())
      due_queue.put(moment, std::move(work));
    else
      work();
  }

  runtime::Runtime& runtime;
  const std::shared_ptr<const Plan> plan;
  const std::uint32_t host;
  const std::string name;
  LaneCarrier& carrier;
  /// Logs a frame that a rule forbids. `source` is the host that sent the frame.
  void reject(std::uint32_t source, const std::string& what);
  runtime::Mutex mutex;
  DueQueue due_queue;
  LinkScheduler link_scheduler;
  /// Processor of this host; nullptr if its work takes no simulated time.
  const std::unique_ptr<ChargedProcessor> processor;
  Waits ended;  ///< sends and receives to complete after the mutex is released

 private:
  RejectionLog own_rejections_;  // replaces the log of the carrier if the carrier has none
};

}  // namespace paths
