// SPDX-License-Identifier: Apache-2.0
// paths/messages/gathering.hpp — how the hosts of a run learn that something holds for all of them.
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

/// Spreads one piece of news among all hosts of a run: that all have arrived, or that the threads
/// of all have ended. Hosts tell the exits of their clusters. Exits tell each other, in rounds if
/// they are very many (Hoefler et al. 2006), and then their hosts. A switch gathers only the ends
/// of the hosts of its cluster.
///
/// Sharing: guarded by the mutex of the endpoint.
class Gathering {
 public:
  /// Both outlive it. `kind` is that of the frames with the news.
  Gathering(LaneKind kind, EndpointState& state, const LostHosts& lost)
      : kind_(kind), state_(state), lost_(lost) {}

  /// It holds for this host.
  void begin();
  /// News from another host.
  void take(const LaneFrame& frame);
  /// Tells others what they can know now. To be called after everything that may change it.
  void resume();
  bool is_here() const { return is_here_; }
  bool is_everywhere() const { return is_everywhere_; }
  /// Blocks until wake(). `what` says for what, for reports.
  runtime::Woken wait(runtime::Lock& lock, runtime::Deadline until, std::string_view what) {
    return waiting_.wait(lock, until, {what, state_.name, state_.host});
  }
  /// Wakes those that wait, if it holds for all.
  void wake(runtime::DeferredWakes& wakes) {
    if (is_everywhere_) waiting_.wake_all(wakes);
  }
  /// Returns how far it has got here. 0 = it does not hold for this host, 1 = it does. 2 + n = this
  /// exit has reported its cluster in round n. All bits set = it holds for all.
  std::uint64_t progress() const;
  /// Returns the progress() from which on a host has sent the news that this one waits for.
  std::uint64_t progress_needed(std::uint32_t of) const;
  /// Returns the hosts whose news this one waits for.
  std::vector<std::uint32_t> awaited() const;
  /// Returns in words which hosts this one waits for; "" if none of them has given a sign of life.
  std::string awaited_text() const;

  /// It holds for a host of this switch.
  void note_host(std::uint32_t host);
  /// It may not hold for a host any more, which came late.
  void forget_host(std::uint32_t host) { hosts_.erase(host); }
  bool has(std::uint32_t host) const { return hosts_.contains(host); }
  /// Looks whether it holds for all hosts of the switch that are not lost.
  void look_at_hosts();

 private:
  void tell_clusters();
  void tell_all();
  LaneFrame news(std::uint32_t target, std::uint64_t bytes) const;
  bool is_exit() const;

  const LaneKind kind_;
  EndpointState& state_;
  const LostHosts& lost_;
  // Hosts for which it holds: of this cluster, if this is its exit; of this switch.
  std::set<std::uint32_t> hosts_;
  std::vector<std::uint32_t> mine_;  // the hosts of this cluster, if this is its exit
  // (round, cluster): the reports of other clusters, if this is an exit.
  std::set<std::pair<std::uint64_t, std::uint32_t>> heard_;
  std::uint64_t round_ = 0;  // the round that this exit is in
  bool is_here_ = false;
  bool is_told_ = false;  // this host has reported, an exit in this round
  bool is_everywhere_ = false;
  runtime::WaitList waiting_;
};

}  // namespace paths
