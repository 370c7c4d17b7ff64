// SPDX-License-Identifier: Apache-2.0
// paths/messages/gathering.hpp — reports to all hosts that all have arrived, or that all have ended
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

/// Informs all hosts that a fact holds for all hosts. The fact is either that a host has arrived,
/// or that the threads of a host have ended. All hosts can therefore begin and end a run together.
///
/// Each host reports to the exit of its cluster. The exits report to each other, in rounds if there
/// are very many clusters. Then each exit reports to the hosts of its cluster. A switch sends no
/// reports. It only collects the ends of the hosts of its cluster.
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
  /// Sends the reports that this host can send now. The owner must call resume() after each change
  /// that may allow a further report.
  void resume();
  bool is_here() const { return is_here_; }
  bool is_everywhere() const { return is_everywhere_; }
  /// Blocks until wake() finds that the fact holds for all hosts, or until `until` has passed.
  /// `what` names the awaited event in log messages.
  runtime::Woken wait(runtime::Lock& lock, runtime::Deadline until, std::string_view what) {
    return waiting_.wait(lock, until, {what, state_.name, state_.host});
  }
  /// Wakes the waiters if the fact holds for all hosts.
  void wake(runtime::DeferredWakes& wakes) {
    if (is_everywhere_) waiting_.wake_all(wakes);
  }
  /// Returns the progress of this host as a number:
  /// - 0: the fact does not hold for this host yet.
  /// - 1: the fact holds for this host, but this host has sent no report yet.
  /// - 2 + n: this host has sent its report of round n. n is 0 except on exits.
  /// - The maximum number: the fact holds for all hosts.
  std::uint64_t progress() const;
  /// Returns the progress() that the host `of` has at least if it has sent the report for which
  /// this host waits.
  std::uint64_t progress_needed(std::uint32_t of) const;
  /// Returns the hosts for whose reports this host waits.
  std::vector<std::uint32_t> awaited() const;
  /// Returns a text about the first awaited host that has given a sign of life and on whose report
  /// further hosts depend; "" if there is none.
  std::string awaited_text() const;

  /// On a switch: notes that the fact holds for a host of the switch.
  void note_host(std::uint32_t host);
  /// On a switch: undoes note_host() for a host that has arrived late.
  void forget_host(std::uint32_t host) { hosts_.erase(host); }
  bool has(std::uint32_t host) const { return hosts_.contains(host); }
  /// On a switch: completes the gathering if the fact holds for all hosts of the switch that are
  /// not lost.
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
  // Hosts for which the fact is known to hold. On an exit, these are hosts of its cluster. On a
  // switch, these are hosts of the switch.
  std::set<std::uint32_t> hosts_;
  std::vector<std::uint32_t> mine_;  // all hosts of this cluster; empty unless this is the exit
  // Round and cluster of each report that has arrived from another cluster. Empty except on exits.
  std::set<std::pair<std::uint64_t, std::uint32_t>> heard_;
  std::uint64_t round_ = 0;  // number of the current round; 0 except on exits
  bool is_here_ = false;
  // Whether this host has sent its report. On an exit: whether it has sent its reports of the
  // current round.
  bool is_notified_ = false;
  bool is_everywhere_ = false;
  runtime::WaitList waiting_;
};

}  // namespace paths
