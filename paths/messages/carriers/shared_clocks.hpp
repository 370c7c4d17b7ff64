// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/shared_clocks.hpp — hosts that read the same clock as this one.
#pragma once
#include <cstdint>
#include <set>

#include "paths/wire/lane_frame.hpp"
#include "paths/wire/peers.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Knows which hosts proved to read the clock that this host reads, and measures with it how long
/// their frames took.
///
/// Why:     an address is no proof: behind forwarded ports there are other machines, and containers
///          of one machine may have clocks of their own.
/// Sharing: guarded by its owner's mutex, except identity() and add_lateness().
class SharedClocks {
 public:
  /// Both outlive this object.
  SharedClocks(runtime::Runtime& runtime, const Peers& peers, std::uint32_t host);
  /// Returns the identity of this host's clock; 0 = the virtual clock.
  std::uint64_t identity() const { return identity_; }
  /// Compares the identity that a host said its clock has.
  void compare(std::uint32_t host, std::uint64_t identity);
  bool has(std::uint32_t host) const { return hosts_.contains(host); }
  /// Adds the time that the frame took from its sender to here, which one clock shows. It was no
  /// one clock if that is less than nothing, or more than any wait.
  void add_lateness(LaneFrame& frame) const;

 private:
  runtime::Runtime& runtime_;
  const Peers& peers_;
  const std::uint32_t host_;
  const std::uint64_t identity_;
  std::set<std::uint32_t> hosts_;
};

}  // namespace paths
