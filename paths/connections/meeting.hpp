// SPDX-License-Identifier: Apache-2.0
// paths/connections/meeting.hpp — wait for the peers of a deployment
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/peer_table.hpp"

namespace paths {

/// A deployment works only if the hosts that the plan connects have met. Meeting waits for them,
/// and records whether the call of deploy() that needs them has failed.
///
/// Thread-safe: await_peers(), deploy(), fail(why), note_later_call() and received_number(). All
///              other functions require the mutex of the table.
class Meeting {
 public:
  /// Called for a peer that did not arrive in time, which then counts as lost.
  using GiveUp = std::function<void(std::uint32_t peer, const std::string& why)>;
  /// If `needs_all` is true, the call fails as soon as one peer cannot be met, and the owner must
  /// call deploy(). Otherwise the owner calls await_peers().
  /// Requires: the arguments outlive this object.
  Meeting(ConnectionTable& table, PeerTable& peers, bool needs_all, GiveUp give_up);

  /// Blocks until each peer has been met on all connections between the two, or is gone, or the
  /// call has failed. Prints the missing peers after 5 s, then at growing intervals. Gives up the
  /// peers that are still missing at `limit`.
  void await_peers(runtime::Deadline limit);
  /// Like await_peers(), for a call that needs all peers. Returns "" or the reason of the failure,
  /// as soon as it is known. Losses of peers are not reported before it succeeds.
  std::string deploy(runtime::Deadline limit);
  /// Fails the call, unless it has succeeded or failed already.
  void fail(const std::string& why);
  void fail(const std::string& why, runtime::DeferredWakes& wakes);
  /// Notes that another host makes a call with a higher number. Fails this call, unless the two
  /// hosts have met in it.
  void note_later_call(const std::string& host, const DeploymentId& theirs);
  /// Notes that the call or its deployment was abandoned.
  void note_abandoned(const std::string& why);
  bool has_failed() const { return !failed_.empty(); }
  /// Wakes waiters after a peer has arrived or was lost.
  void note_change(runtime::DeferredWakes& wakes) { waiting_.wake_all(wakes); }
  /// Notes the number of a call of this label that a refusing peer named.
  void receive_number(const DeploymentId& theirs);
  /// Returns the highest number from receive_number().
  std::uint64_t received_number() const;

 private:
  std::set<std::uint32_t> absent() const;

  ConnectionTable& table_;
  PeerTable& peers_;
  const GiveUp give_up_;
  bool is_wired_;       // true from the start if not all peers are needed
  std::string failed_;  // reason; empty unless the call failed or was abandoned
  std::uint64_t received_number_ = 0;
  runtime::WaitList waiting_;
};

}  // namespace paths
