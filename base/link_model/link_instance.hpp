// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_instance.hpp — state of one direction of a link in use
#pragma once
#include <cstdint>
#include <utility>

#include "base/link_model/link_model.hpp"

namespace tuning {

/// One direction of a link, and the time until which it is occupied. Whole messages (of declared
/// paths) and frames (of lanes) queue for the same link.
///
/// Why: frames of one message can cross several links at the same time, as packets do in networks
///   (cut-through). A whole message crosses one link after the other (store and forward).
/// Units: the caller provides all times, which may be simulated or predicted.
/// Thread-safe: no.
/// Paper: Bongo et al. 2004, §V-D.
class LinkInstance {
 public:
  LinkInstance() = default;
  explicit LinkInstance(LinkModel model) : model_(std::move(model)) {}

  const LinkModel& model() const { return model_; }
  base::Nanos free_at() const { return free_at_; }

  /// Sends a whole message at `now` and returns its arrival time. No message arrives before an
  /// earlier message.
  base::Nanos pass(base::Nanos now, std::uint64_t bytes);
  base::Nanos last_arrival() const { return last_arrival_; }

  struct Passage {
    base::Nanos free_again;  ///< time at which the link accepts the next frame
    base::Nanos head;        ///< arrival of the frame's first byte (head) at the far end
    base::Nanos lag;         ///< time from the arrival of the first byte to that of the last byte
  };
  /// Sends a frame whose first byte (head) is available at `head`. The last byte (tail) of the
  /// frame is available `lag` after the first byte. Transmission starts at s = max(head,
  /// free_at()). The link accepts the next frame at s + bytes / rate, even if the tail is available
  /// only later, because other frames can use the gap. No head arrives before the head of an
  /// earlier frame.
  Passage carry(base::Nanos head, base::Nanos lag, std::uint64_t bytes);
  /// Sends a control message at `now` and returns its arrival time. Credits, grants and goodbyes
  /// have no bytes and do not queue. No control message arrives before an earlier control message.
  base::Nanos carry_control(base::Nanos now);

 private:
  LinkModel model_;
  base::Nanos free_at_{0};
  base::Nanos last_arrival_{0};  // arrival of the latest whole message
  base::Nanos last_head_{0};     // arrival of the latest frame's head
  base::Nanos last_control_{0};
};

}  // namespace tuning
