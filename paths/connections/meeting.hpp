// SPDX-License-Identifier: Apache-2.0
// paths/connections/meeting.hpp — waits until the peers of a host have arrived.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/peer_table.hpp"

namespace paths {

/// Waits for the peers that the plan joins to this host, and knows whether the call of deploy()
/// that needs them has failed.
///
/// Sharing: any context may call await_peers(), deploy(), fail(why), hear_of_later_call() and
///          number_heard(). All other functions require the mutex of the table.
class Meeting {
 public:
  /// Counts a peer as lost that did not come.
  using GiveUp = std::function<void(std::uint32_t peer, const std::string& why)>;
  /// Both outlive this object. `needs_all`: the call fails as soon as one peer cannot be met; then
  /// deploy() is to follow.
  Meeting(ConnectionTable& table, PeerTable& peers, bool needs_all, GiveUp give_up);

  /// Blocks until each peer was met on all connections between the two, or is gone. Prints
  /// which peers are missing after 5 s, then ever less often. Gives up those that are missing at
  /// `limit`.
  void await_peers(runtime::Deadline limit);
  /// The same of a call that needs all. Returns why it has failed, at once, or "". Until it
  /// succeeds, losses of peers are not reported.
  std::string deploy(runtime::Deadline limit);
  /// Fails the call, unless it has succeeded or failed before.
  void fail(const std::string& why);
  void fail(const std::string& why, runtime::DeferredWakes& wakes);
  /// Another host makes a call of a higher number. That fails this one, unless the two were wired.
  void hear_of_later_call(const std::string& host, const DeploymentId& theirs);
  /// Notes that the call, or its deployment, was left.
  void note_abandoned(const std::string& why);
  bool has_failed() const { return !failed_.empty(); }
  /// A peer has arrived, or is lost. Wakes those that wait.
  void note_change(runtime::DeferredWakes& wakes) { waiting_.wake_all(wakes); }
  /// A peer that refused this host named a number of a call of its label.
  void hear_number(const DeploymentId& theirs);
  /// Returns the highest of those numbers.
  std::uint64_t number_heard() const;

 private:
  std::set<std::uint32_t> absent() const;

  ConnectionTable& table_;
  PeerTable& peers_;
  const GiveUp give_up_;
  bool is_wired_;       // or needs not all
  std::string failed_;  // why the call has, before it was wired
  std::uint64_t number_heard_ = 0;
  runtime::WaitList waiting_;
};

}  // namespace paths
