// SPDX-License-Identifier: Apache-2.0
// paths/messages/gathering.hpp — agreement among all hosts that they have arrived or ended
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

/// A run begins and ends together on all hosts. A Gathering spreads one fact: that all hosts have
/// arrived, or that the threads of all have ended.
///
/// Hosts report to the exits of their clusters. Exits report to each other, in rounds if there are
/// very many, and then to their hosts. A switch gathers only the ends of the hosts of its cluster.
///
/// Thread-safe: guarded by the mutex of the endpoint.
/// Paper: Hoefler et al. 2006.
class Gathering {
 public:
  /// `kind` is the kind of the frames that carry the fact.
  /// Requires: the arguments outlive this object.
  Gathering(LaneKind kind, EndpointState& state, const LostHosts& lost)
      : kind_(kind), state_(state), lost_(lost) {}

  /// Notes that the fact holds for this host.
  void begin();
  /// Takes a report from another host.
  void take(const LaneFrame& frame);
  /// Sends the reports that are possible now. Call it after each change that may permit one.
  void resume();
  bool is_here() const { return is_here_; }
  bool is_everywhere() const { return is_everywhere_; }
  /// Blocks until wake() or `until`. `what` names the awaited event for reports.
  runtime::Woken wait(runtime::Lock& lock, runtime::Deadline until, std::string_view what) {
    return waiting_.wait(lock, until, {what, state_.name, state_.host});
  }
  /// Wakes the waiters if the fact holds for all.
  void wake(runtime::DeferredWakes& wakes) {
    if (is_everywhere_) waiting_.wake_all(wakes);
  }
  /// Returns the progress on this host. 0 = the fact does not hold for it. 1 = it does. 2 + n =
  /// this exit has reported its cluster in round n. All bits set = it holds for all.
  std::uint64_t progress() const;
  /// Returns the progress() from which on a host has sent the report that this one waits for.
  std::uint64_t progress_needed(std::uint32_t of) const;
  /// Returns the hosts whose reports are awaited.
  std::vector<std::uint32_t> awaited() const;
  /// Returns a text about the awaited hosts that have given a sign of life; "" if there are none.
  std::string awaited_text() const;

  /// Notes that the fact holds for a host of this switch.
  void note_host(std::uint32_t host);
  /// Withdraws that note for a host that arrived late.
  void forget_host(std::uint32_t host) { hosts_.erase(host); }
  bool has(std::uint32_t host) const { return hosts_.contains(host); }
  /// Checks whether the fact holds for all hosts of the switch that are not lost.
  void look_at_hosts();

 private:
  void tell_clusters();
  void notify_all();
  LaneFrame news(std::uint32_t target, std::uint64_t bytes) const;
  bool is_exit() const;

  const LaneKind kind_;
  EndpointState& state_;
  const LostHosts& lost_;
  // Hosts for which the fact holds: of this cluster on its exit, of the switch on a switch.
  std::set<std::uint32_t> hosts_;
  std::vector<std::uint32_t> mine_;  // hosts of this cluster; on its exit only
  // Reports of other clusters as (round, cluster); on exits only.
  std::set<std::pair<std::uint64_t, std::uint32_t>> heard_;
  std::uint64_t round_ = 0;  // current round of this exit
  bool is_here_ = false;
  bool is_notified_ = false;  // whether this host has reported; on an exit, in this round
  bool is_everywhere_ = false;
  runtime::WaitList waiting_;
};

}  // namespace paths
