// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/shared_clocks.hpp — hosts that share this host's clock
#pragma once
#include <cstdint>
#include <set>

#include "paths/wire/lane_frame.hpp"
#include "paths/wire/peers.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Records the hosts that read the same clock as this host, and measures how long frames from these
/// hosts were under way. Between hosts with different clocks this duration cannot be measured.
///
/// Why: two hosts with equal network addresses may read different clocks. For example, a forwarded
///      port may lead to a different machine, and containers may have separate clocks.
/// Thread-safe: identity() and add_lateness(). All other functions are guarded by the owner's
///              mutex.
class SharedClocks {
 public:
  /// Requires: the arguments outlive this object.
  SharedClocks(runtime::Runtime& runtime, const Peers& peers, std::uint32_t host);
  /// Returns the identity of this host's clock; 0 = the virtual clock.
  std::uint64_t identity() const { return identity_; }
  /// Compares the clock identity of `host` with that of this host. Records `host` if the identities
  /// are equal, and if the addresses of both hosts are on one machine.
  void compare(std::uint32_t host, std::uint64_t identity);
  bool has(std::uint32_t host) const { return hosts_.contains(host); }
  /// Adds to `frame.late` the duration for which the frame was under way. If the computed duration
  /// is below zero or above the deadline, the clocks of the two hosts differ; then does not change
  /// the frame.
  void add_lateness(LaneFrame& frame) const;

 private:
  runtime::Runtime& runtime_;
  const Peers& peers_;
  const std::uint32_t host_;
  const std::uint64_t identity_;
  std::set<std::uint32_t> hosts_;
};

}  // namespace paths
