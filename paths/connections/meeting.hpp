// SPDX-License-Identifier: Apache-2.0
// paths/connections/meeting.hpp — waiting for the peers of a deployment
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/peer_table.hpp"

namespace paths {

/// Waits until this host and its peers in the plan have reached each other. A deployment needs all
/// its connections before its first operation. Also records whether the current call of deploy()
/// has failed.
///
/// Thread-safe: await_peers(), deploy(), fail(why), note_later_call() and received_number(). All
///              other functions require the mutex of the table.
class Meeting {
 public:
  /// Function that must declare a missing peer lost, for the reason `why`.
  using GiveUp = std::function<void(std::uint32_t peer, const std::string& why)>;
  /// Function that must inform the peers about one peer. `state` tells for how long this host has
  /// waited for it; "" if the peer has arrived.
  using Tell = std::function<void(std::uint32_t peer, const std::string& state)>;
  /// If `needs_all` is true, the call of deploy() fails as soon as one peer cannot be reached. The
  /// owner must then call deploy(); otherwise it must call await_peers().
  /// Requires: the arguments outlive this object.
  Meeting(ConnectionTable& table, PeerTable& peers, bool needs_all, GiveUp give_up, Tell tell);

  /// Waits for the peers. Prints the missing peers after 5 s, then at growing intervals. Informs
  /// all peers about one missing peer after half of the deadline. At `limit`, declares all missing
  /// peers lost. If another host reports the loss of a missing peer, declares that peer lost
  /// immediately.
  ///
  /// Blocks: until the call of deploy() has failed, or until each peer is either gone or has all
  ///         its connections with this host.
  void await_peers(runtime::Deadline limit);
  /// Waits for the peers like await_peers(), in a call of deploy() that needs all peers. Returns ""
  /// on success. If the call fails, returns the reason immediately, without waiting for further
  /// peers. A peer that is lost before the call has succeeded fails the call. Its loss is not
  /// reported to Liveness::Gone.
  std::string deploy(runtime::Deadline limit);
  /// Fails the call of deploy(), unless the call has succeeded or failed already.
  void fail(const std::string& why);
  void fail(const std::string& why, runtime::DeferredWakes& wakes);
  /// Notes that another host makes a call of deploy() with a higher number. Fails this host's call,
  /// unless this host has already accepted the other host in the call.
  void note_later_call(const std::string& host, const DeploymentId& theirs);
  /// Notes that the call of deploy(), or the deployment that it made, was abandoned.
  void note_abandoned(const std::string& why);
  bool has_failed() const { return !failed_.empty(); }
  /// Wakes waiters after a peer has arrived or was lost.
  void note_change(runtime::DeferredWakes& wakes) { waiting_.wake_all(wakes); }
  /// Notes that a peer has reported the loss of `host`. If `host` has not arrived, await_peers()
  /// stops waiting for it.
  void note_loss(std::uint32_t host, const std::string& why, runtime::DeferredWakes& wakes);
  /// Returns whether this host waits for `host`.
  bool awaits(std::uint32_t host) const { return absent().contains(host); }
  /// Notes the number in a refusal, if the refusal is about this host's label. It is the number of
  /// the refusing peer's current or next call of deploy() with that label.
  void receive_number(const DeploymentId& theirs);
  /// Returns the highest number that receive_number() has noted; 0 if there is none.
  std::uint64_t received_number() const;

 private:
  std::set<std::uint32_t> absent() const;
  bool give_up_lost(runtime::Lock& lock);
  bool tell_of_absence(base::Nanos due, runtime::Lock& lock);

  ConnectionTable& table_;
  PeerTable& peers_;
  const GiveUp give_up_;
  const Tell tell_;
  // Whether the call of deploy() has succeeded; always true if the call does not need all peers.
  bool is_wired_;
  std::string failed_;  // reason of the failure; "" unless the call failed or was abandoned
  std::uint64_t received_number_ = 0;
  std::map<std::uint32_t, std::string> lost_;  // losses that peers have reported, with the reasons
  std::optional<std::uint32_t> told_of_;  // missing peer about which this host has informed peers
  runtime::WaitList waiting_;
};

}  // namespace paths
