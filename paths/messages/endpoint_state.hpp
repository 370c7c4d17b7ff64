// SPDX-License-Identifier: Apache-2.0
// paths/messages/endpoint_state.hpp — state shared by the parts of a message endpoint
#pragma once
#include <cstdint>
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

/// Carries frames to hosts one step away.
class LaneCarrier {
 public:
  virtual ~LaneCarrier() = default;
  /// Sends a frame to a host one step away, in the order of the calls. Opens a connection at first
  /// use. Never blocks.
  virtual void send(std::uint32_t host, LaneFrame frame) = 0;
  /// Returns whether has_room() is meaningful for `host`. Otherwise the carrier queues all frames.
  virtual bool reports_room(std::uint32_t /*host*/) const { return false; }
  /// Returns whether the carrier would send another frame to `host` immediately. If not, the
  /// carrier calls MessageEndpoint::room_made() later, but not within this function.
  virtual bool has_room(std::uint32_t /*host*/) { return true; }
  /// Returns the hosts to which a frame was sent and which have given no sign of life.
  virtual std::set<std::uint32_t> silent() const { return {}; }
  /// Asks the connected hosts for a sign of life, if enough time has passed since the last request.
  /// Returns the hosts that have given none for `silent_max`, and their states as text. The wait at
  /// the end of the run ignores these hosts. Steady clock only.
  virtual std::map<std::uint32_t, std::string> look_after(base::Nanos /*silent_max*/) { return {}; }
  /// Notes that a host is gone. The wait at the end of the run ignores this host. Requires: the
  /// mutex of the endpoint is held.
  virtual void forget(std::uint32_t /*host*/) {}
  /// Returns the progress towards the end of the run that a host reported in its last sign of life
  /// (MessageEndpoint::end_progress()).
  virtual std::uint64_t end_progress(std::uint32_t /*host*/) const { return 0; }
  /// Returns whether `host` has replied on a connection of this host, or has made one, and lives as
  /// far as the carrier knows.
  virtual bool has_heard(std::uint32_t /*host*/) const { return false; }

  /// Log of rejected peers, which the carrier shares with the endpoint; nullptr if it has none.
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

  /// All arguments outlive this object. `host` is the number of a host in the plan of the run, or
  /// of a switch.
  EndpointState(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
                EmulatedLinks& links, LaneCarrier& carrier);

  /// Returns whether this is the endpoint of an emulated switch.
  bool is_switch() const { return host >= plan->hosts.size(); }
  /// Returns the cluster of the host. Requires: the endpoint is not that of a switch.
  std::uint32_t cluster() const { return plan->hosts[host].cluster; }
  /// Returns whether hosts watch each other for signs of life. On the virtual clock they do not,
  /// because all of them are in this process.
  bool watches_hosts() const { return !runtime.is_virtual(); }
  /// Returns whether a route to `target` may lead through this host.
  bool leads_to(std::uint32_t target) const;
  /// Returns how far times in frames of other processes may lie in the future. Later times are
  /// reduced to this limit. All waits of this host end earlier.
  base::Nanos farthest() const;
  runtime::Deadline deadline() const;
  std::string name_of(std::uint32_t place) const;

  /// Returns a control frame from this host.
  LaneFrame control(LaneKind kind, std::uint32_t target, std::uint64_t group) const;
  /// Returns a frame that reports the loss of the host `lost`.
  LaneFrame lost_frame(std::uint32_t target, std::uint32_t lost, const std::string& why) const;
  /// Sends a frame to the next host on its route.
  void post(LaneFrame frame) { link_scheduler.depart(std::move(frame), runtime.now()); }
  /// Sends a frame directly to a neighbour, without an emulated link.
  void post_to_neighbour(std::uint32_t place, LaneFrame frame) {
    link_scheduler.leaving().emplace_back(place, std::move(frame));
  }
  /// Returns whether the host has no work that its end must wait for.
  bool is_quiet() const {
    return due_queue.has_only_checks() && (processor == nullptr || !processor->works_elsewhere());
  }
  /// Does all work that is due, in the order of due times. Several due times may have passed before
  /// the call. Does nothing if the queue has turns.
  void catch_up();
  /// Puts `work` into the queue for the time `moment`. If that time has passed and no earlier work
  /// waits, does the work immediately.
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
  /// Logs a frame that a rule forbids. `source` is the host that sent it.
  void reject(std::uint32_t source, const std::string& what);
  runtime::Mutex mutex;
  DueQueue due_queue;
  LinkScheduler link_scheduler;
  /// Processor of this host; nullptr if its work takes no simulated time.
  const std::unique_ptr<ChargedProcessor> processor;
  Waits ended;  ///< sends and receives to complete after the mutex is released

 private:
  RejectionLog own_rejections_;  // used if the carrier has no log
};

}  // namespace paths
