// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/control_frames.hpp — frames that a host sends on connections of lanes
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "paths/wire/frame.hpp"
#include "paths/wire/peers.hpp"

namespace paths {

/// Makes the frames that one host sends on connections of lanes. Each frame contains the id of the
/// run and the number of the host.
///
/// Thread-safe: yes; constant after construction.
class ControlFrames {
 public:
  /// `clock` is the identity of the host's steady clock.
  /// Requires: `peers` outlives this object.
  ControlFrames(const Peers& peers, std::uint32_t host, std::uint64_t clock)
      : peers_(peers), host_(host), clock_(clock) {}
  Frame of(LaneFrame lane) const {
    Frame frame = new_frame(peers_.run, host_, FrameKind::lane);
    frame.text = std::exchange(lane.text, {});
    frame.lane = std::make_shared<LaneFrame>(std::move(lane));
    return frame;
  }
  /// Returns a control frame of a connection. The meaning of `bytes` depends on `kind` (LaneKind).
  Frame of(LaneKind kind, std::uint64_t bytes = 0) const {
    LaneFrame lane;
    lane.kind = kind;
    lane.source = host_;
    lane.bytes = bytes;
    if (kind == LaneKind::hello) {
      lane.text = peers_.hosts[host_].name;
      lane.signature_digest = clock_;
    }
    return of(std::move(lane));
  }

 private:
  const Peers& peers_;
  const std::uint32_t host_;
  const std::uint64_t clock_;
};

}  // namespace paths
