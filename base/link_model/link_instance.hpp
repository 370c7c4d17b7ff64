// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_instance.hpp — one direction of a link while messages and frames pass it.
#pragma once
#include <cstdint>
#include <utility>

#include "base/link_model/link_model.hpp"

namespace tuning {

/// What passes one direction of a link queues for it: a link and until when it is taken. Whole
/// messages (declared paths) and frames (lanes) take it from each other.
///
/// Why:     a message in frames crosses several links at once, each passing on what it has of it
///          (cut-through), as packets do; whole ones are stored and forwarded (Bongo et al. 2004,
///          §V-D).
/// Time:    whoever calls has a clock; here are only moments, which may be ideal ones.
/// Sharing: its owner's business.
class LinkInstance {
 public:
  LinkInstance() = default;
  explicit LinkInstance(LinkModel model) : model_(std::move(model)) {}

  const LinkModel& model() const { return model_; }
  /// When it can take the next one.
  base::Nanos free_at() const { return free_at_; }

  /// A whole message offered at `now`: when it has arrived. None arrives before an earlier one.
  base::Nanos pass(base::Nanos now, std::uint64_t bytes);
  /// When the last whole message will have arrived.
  base::Nanos last_arrival() const { return last_arrival_; }

  struct Passage {
    base::Nanos free_again;  ///< when the link has taken the frame's last byte, unless it lags
    base::Nanos head;        ///< when its head has arrived at the far end
    base::Nanos lag;         ///< how long after it the tail has
  };
  /// A frame whose head is offered at `head`, its tail `lag` later. It is served at
  /// s = max(head, free), and the link is free again at s + bytes / rate even if the tail comes
  /// later: others fill the gap. No head overtakes an earlier one.
  Passage carry(base::Nanos head, base::Nanos lag, std::uint64_t bytes);
  /// What has no bytes and waits for nothing: credits, grants, goodbyes. When it has arrived, none
  /// before an earlier one.
  base::Nanos carry_control(base::Nanos now);

 private:
  LinkModel model_;
  base::Nanos free_at_{0};
  base::Nanos last_arrival_{0};  // of whole messages
  base::Nanos last_head_{0};     // of frames
  base::Nanos last_control_{0};
};

}  // namespace tuning
