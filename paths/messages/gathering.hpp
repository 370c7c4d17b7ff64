// SPDX-License-Identifier: Apache-2.0
// paths/messages/gathering.hpp — report to all hosts that all have arrived, or that all have ended
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/lost_hosts.hpp"

namespace paths {

/// Informs all hosts of one fact: either that all hosts have arrived, or that the threads of all
/// hosts have ended. All hosts can therefore begin and end a run together.
///
/// Each host reports to the exit of its cluster. The exits report to each other, in rounds if there
/// are very many clusters. Then each exit reports to the hosts of its cluster. A switch only
/// collects the ends of the hosts of its cluster.
///
/// Thread-safe: guarded by the mutex of the endpoint.
/// Paper: Hoefler et al. 2006.
class Gathering {
 public:
  /// `kind` is the kind of frame that reports the fact: LaneKind::here or LaneKind::done.
  /// Requires: the arguments outlive this object.
  Gathering(LaneKind kind, EndpointState& state, const LostHosts& lost)
      : kind_(kind), state_(state), lost_(lost) {}

  /// Notes that the fact holds for this host: it has arrived, or its threads have ended.
  void begin();
  /// Processes a report from another host.
  void take(const LaneFrame& frame);
  /// Sends the reports that this host can send now. The caller must call resume() after each change
  /// after which a further report may be possible.
  void resume();
  bool is_here() const { return is_here_; }
  bool is_everywhere() const { return is_everywhere_; }
  /// Blocks until wake() is called or `until` has passed. `what` names the awaited event in log
  /// messages.
  runtime::Woken wait(runtime::Lock& lock, runtime::Deadline until, std::string_view what) {
    return waiting_.wait(lock, until, {what, state_.name, state_.host});
  }
  /// Wakes the waiters if the fact holds for all hosts.
  void wake(runtime::DeferredWakes& wakes) {
    if (is_everywhere_) waiting_.wake_all(wakes);
  }
  /// Returns the progress of this host as a number. The value 0 means that the fact does not hold
  /// for this host yet, 1 that it holds. On the exit of a cluster, 2 + n means that the exit has
  /// sent the report of round n. All bits are set if the fact holds for all hosts.
  std::uint64_t progress() const;
  /// This host waits for a report of the host `of`. Returns the smallest progress() of `of` at
  /// which `of` has sent that report.
  std::uint64_t progress_needed(std::uint32_t of) const;
  /// Returns the hosts for whose reports this host waits.
  std::vector<std::uint32_t> awaited() const;
  /// Returns a text about the first awaited host that has given a sign of life; "" if there is
  /// none.
  std::string awaited_text() const;

  /// On a switch: notes that the fact holds for one of its hosts.
  void note_host(std::uint32_t host);
  /// On a switch: undoes note_host(), because the host has arrived late.
  void forget_host(std::uint32_t host) { hosts_.erase(host); }
  bool has(std::uint32_t host) const { return hosts_.contains(host); }
  /// On a switch: checks whether the fact holds for all hosts of the switch that are not lost.
  void look_at_hosts();

 private:
  void tell_clusters();
  void notify_all();
  LaneFrame news(std::uint32_t target, std::uint64_t bytes) const;
  bool may_report(const LaneFrame& frame) const;
  bool is_exit() const;

  const LaneKind kind_;
  EndpointState& state_;
  const LostHosts& lost_;
  // Hosts for which the fact is known to hold. On an exit: hosts of its cluster. On a switch: hosts
  // of the switch.
  std::set<std::uint32_t> hosts_;
  std::vector<std::uint32_t> mine_;  // all hosts of this cluster; filled on the exit only
  // Reports of other clusters that have arrived, as (round, cluster). Used on exits only.
  std::set<std::pair<std::uint64_t, std::uint32_t>> heard_;
  std::uint64_t round_ = 0;  // number of the current round, on exits
  bool is_here_ = false;
  // Whether this host has sent its report; on an exit, the report of the current round.
  bool is_notified_ = false;
  bool is_everywhere_ = false;
  runtime::WaitList waiting_;
};

}  // namespace paths
