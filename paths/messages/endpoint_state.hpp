// SPDX-License-Identifier: Apache-2.0
// paths/messages/endpoint_state.hpp — what the parts of a host's message endpoint share.
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paths/links/due_queue.hpp"
#include "paths/links/emulated_links.hpp"
#include "paths/links/link_scheduler.hpp"
#include "paths/messages/group.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wire/lane_frame.hpp"
#include "paths/wire/rejection_log.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Carries frames to the next host.
class LaneCarrier {
 public:
  virtual ~LaneCarrier() = default;
  /// Hands a frame to a host that is one step away, in the order of the calls; opens what it needs
  /// at first use. Never blocks.
  virtual void send(std::uint32_t host, LaneFrame frame) = 0;
  /// Whether what goes there is taken only as fast as it leaves: as has_room() says.
  virtual bool tells_of_room(std::uint32_t /*host*/) const { return false; }
  /// Whether more leaves at once; where it does not, MessageEndpoint::room_made() says when it
  /// does. Never calls back.
  virtual bool has_room(std::uint32_t /*host*/) { return true; }
  /// Returns the hosts that were sent something and have given no sign of life.
  virtual std::set<std::uint32_t> silent() const { return {}; }
  /// Asks them all for one, also those that gave some before. Returns the hosts that gave none in
  /// `silent_looks_max` of these looks in a row: no wait is for them any more. Steady clock only.
  virtual std::set<std::uint32_t> look_after(std::uint32_t /*silent_looks_max*/) { return {}; }
  /// A host is gone: waits for nothing more from it, also not at the end. Called with the mutex of
  /// the endpoint held.
  virtual void forget(std::uint32_t /*host*/) {}
  /// How far a host had got with ending when it last gave one (MessageEndpoint::end_progress()).
  virtual std::uint64_t end_progress(std::uint32_t /*host*/) const { return 0; }
};

/// The place of an endpoint in the run, its mutex, and what leaves it.
///
/// Time:    moments are ideal on the steady clock (paths/links/link_scheduler.hpp).
/// Sharing: all but what never changes is guarded by `mutex`: agenda, departures, ended.
class EndpointState {
 public:
  using Waits = std::vector<std::shared_ptr<LaneWait>>;

  /// All outlive it. `host` is the number of a host in the run's plan, or of an emulated switch.
  EndpointState(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
                EmulatedLinks& links, LaneCarrier& carrier);

  /// Whether this is an emulated switch.
  bool is_switch() const { return host >= plan->hosts.size(); }
  /// Returns the cluster of a host. Not for a switch.
  std::uint32_t cluster() const { return plan->hosts[host].cluster; }
  /// Whether what is for `target` may pass here.
  bool leads_to(std::uint32_t target) const;
  /// How far ahead a moment may be that another process names. By then every wait has ended.
  base::Nanos farthest() const;
  runtime::Deadline deadline() const;
  std::string name_of(std::uint32_t place) const;

  /// Returns a frame of this host that is not data.
  LaneFrame control(LaneKind kind, std::uint32_t target, std::uint64_t group) const;
  /// Returns the report that a host is lost.
  LaneFrame lost_frame(std::uint32_t target, std::uint32_t lost, const std::string& why) const;
  /// Sends a frame the next step of its way.
  void post(LaneFrame frame) { link_scheduler.depart(std::move(frame), runtime.now()); }
  /// Sends a frame to a neighbour, over no link.
  void post_to_neighbour(std::uint32_t place, LaneFrame frame) {
    link_scheduler.leaving().emplace_back(place, std::move(frame));
  }
  /// Does what is due. On the steady clock who does that may be late: nothing that is due now goes
  /// before it.
  void catch_up();
  /// Does the work at that moment, or at once if the moment has passed.
  template <class Work>
  void at(base::Nanos moment, Work work) {
    const bool is_behind =
        !runtime.is_virtual() && !due_queue.empty() && due_queue.next() <= moment;
    if (is_behind || moment > runtime.now())
      due_queue.put(moment, std::move(work));
    else
      work();
  }

  runtime::Runtime& runtime;
  const std::shared_ptr<const Plan> plan;
  const std::uint32_t host;
  const std::string name;
  LaneCarrier& carrier;
  RejectionLog rejections;
  runtime::Mutex mutex;
  DueQueue due_queue;
  LinkScheduler link_scheduler;
  Waits ended;  ///< to be completed without the mutex
};

}  // namespace paths
