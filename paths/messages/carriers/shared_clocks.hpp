// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/shared_clocks.hpp — hosts that share this host's clock
#pragma once
#include <cstdint>
#include <set>

#include "paths/wire/lane_frame.hpp"
#include "paths/wire/peers.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Records the hosts that read the same clock as this host, and measures how long frames from them
/// were under way. Between hosts with different clocks this duration cannot be measured.
///
/// Why: two hosts with equal network addresses may read different clocks. A forwarded port leads to
///      another machine, and containers on one machine may have separate clocks.
/// Thread-safe: identity() and add_lateness(). All other functions are guarded by the owner's
///              mutex.
class SharedClocks {
 public:
  /// Requires: the arguments outlive this object.
  SharedClocks(runtime::Runtime& runtime, const Peers& peers, std::uint32_t host);
  /// Returns the identity of this host's clock; 0 = the virtual clock.
  std::uint64_t identity() const { return identity_; }
  /// Compares another host's clock identity with that of this host. Records the other host if the
  /// identities are equal and both addresses are on one machine.
  void compare(std::uint32_t host, std::uint64_t identity);
  bool has(std::uint32_t host) const { return hosts_.contains(host); }
  /// Adds the duration that the frame was under way to `frame.late`. If this duration is below zero
  /// or above the deadline, the clocks of the two hosts differ, and the frame is not changed.
  void add_lateness(LaneFrame& frame) const;

 private:
  runtime::Runtime& runtime_;
  const Peers& peers_;
  const std::uint32_t host_;
  const std::uint64_t identity_;
  std::set<std::uint32_t> hosts_;
};

}  // namespace paths
