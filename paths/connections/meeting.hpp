// SPDX-License-Identifier: Apache-2.0
// paths/connections/meeting.hpp — waiting for the peers of a deployment
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/peer_table.hpp"

namespace paths {

/// Waits until this host and its peers in the plan have reached each other, which a deployment
/// needs before its first operation. Also records whether the current call of deploy() has failed.
///
/// Thread-safe: await_peers(), deploy(), fail(why), note_later_call() and received_number(). All
///              other functions require the mutex of the table.
class Meeting {
 public:
  /// Function that is called for a peer that did not arrive in time. The peer then counts as lost.
  using GiveUp = std::function<void(std::uint32_t peer, const std::string& why)>;
  /// If `needs_all` is true, the call of deploy() fails as soon as one peer cannot be reached. The
  /// owner must then call deploy(); otherwise it must call await_peers().
  /// Requires: the arguments outlive this object.
  Meeting(ConnectionTable& table, PeerTable& peers, bool needs_all, GiveUp give_up);

  /// Blocks until the call of deploy() has failed, or until each peer is gone or has all its
  /// connections with this host. Prints the missing peers after 5 s, then at growing intervals. At
  /// `limit`, stops waiting for the peers that are still missing. Stops waiting earlier for a
  /// missing peer that another peer reports as lost.
  void await_peers(runtime::Deadline limit);
  /// Like await_peers(), for a call of deploy() that needs all peers. Returns "" on success. If the
  /// call fails, returns the reason immediately, without waiting for further peers. Losses of peers
  /// are not reported before the call has succeeded.
  std::string deploy(runtime::Deadline limit);
  /// Fails the call, unless it has succeeded or failed already.
  void fail(const std::string& why);
  void fail(const std::string& why, runtime::DeferredWakes& wakes);
  /// Notes that another host makes a call with a higher number. Fails this call, unless the two
  /// hosts have already reached each other in this call.
  void note_later_call(const std::string& host, const DeploymentId& theirs);
  /// Notes that the call or its deployment was abandoned.
  void note_abandoned(const std::string& why);
  bool has_failed() const { return !failed_.empty(); }
  /// Wakes waiters after a peer has arrived or was lost.
  void note_change(runtime::DeferredWakes& wakes) { waiting_.wake_all(wakes); }
  /// Notes that a peer has reported the loss of `host`. If `host` has not arrived, await_peers()
  /// stops waiting for it.
  void note_loss(std::uint32_t host, const std::string& why, runtime::DeferredWakes& wakes);
  /// Notes the number in a refusal: the number of the refusing peer's own call with this label.
  void receive_number(const DeploymentId& theirs);
  /// Returns the highest number from receive_number().
  std::uint64_t received_number() const;

 private:
  std::set<std::uint32_t> absent() const;
  bool give_up_lost(runtime::Lock& lock);

  ConnectionTable& table_;
  PeerTable& peers_;
  const GiveUp give_up_;
  // Whether the call of deploy() has succeeded. Always true if the call does not need all peers.
  bool is_wired_;
  std::string failed_;  // reason of the failure; "" unless the call failed or was abandoned
  std::uint64_t received_number_ = 0;
  std::map<std::uint32_t, std::string> lost_;  // losses that peers have reported, with the reasons
  runtime::WaitList waiting_;
};

}  // namespace paths
