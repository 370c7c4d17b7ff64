// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/shared_clocks.hpp — hosts that share this host's clock
#pragma once
#include <cstdint>
#include <set>

#include "paths/wire/lane_frame.hpp"
#include "paths/wire/peers.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Two hosts can measure the time of a frame between them only if they read the same clock.
/// SharedClocks records the hosts that have proved it, and measures how long their frames took.
///
/// Why: an address is no proof. Forwarded ports lead to other machines, and containers of one
///      machine may have separate clocks.
/// Thread-safe: identity() and add_lateness(). Otherwise guarded by its owner's mutex.
class SharedClocks {
 public:
  /// Requires: the arguments outlive this object.
  SharedClocks(runtime::Runtime& runtime, const Peers& peers, std::uint32_t host);
  /// Returns the identity of this host's clock; 0 = the virtual clock.
  std::uint64_t identity() const { return identity_; }
  /// Compares a host's clock identity with ours; records the host if they are equal and
  /// both addresses are of one machine.
  void compare(std::uint32_t host, std::uint64_t identity);
  bool has(std::uint32_t host) const { return hosts_.contains(host); }
  /// Adds the time that a frame took to its lateness. Ignores times below zero or above the
  /// deadline, because the two clocks are then not the same.
  void add_lateness(LaneFrame& frame) const;

 private:
  runtime::Runtime& runtime_;
  const Peers& peers_;
  const std::uint32_t host_;
  const std::uint64_t identity_;
  std::set<std::uint32_t> hosts_;
};

}  // namespace paths
