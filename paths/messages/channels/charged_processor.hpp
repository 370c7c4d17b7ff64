// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/charged_processor.hpp — a simulated host's processor, whose work takes
// time
#pragma once
#include <cstdint>

#include "base/link_model/host_costs.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// The simulated processor of a host on the virtual clock. Used if the config states the costs of
/// hosts: the time that hosts need for frames, folds and copies. Functions with the argument `now`
/// request work at the time `now`, and return the time at which the work ends.
///
/// Why: without this class, work of a simulated host takes no time.
/// Thread-safe: guarded by its owner's mutex.
class ChargedProcessor {
 public:
  /// Requires: the plan has costs. The plan outlives this object.
  explicit ChargedProcessor(const Plan& plan) : plan_(plan) {}

  /// Requests the preparation of a frame from this host.
  base::Nanos send(base::Nanos now, std::uint32_t source, std::uint32_t target,
                   std::uint64_t bytes) {
    return processor_.serve_if_any(now, costs(source, target).send.at(bytes));
  }
  /// Requests the reception of a frame for this host.
  base::Nanos receive(base::Nanos now, std::uint32_t source, std::uint32_t target,
                      std::uint64_t bytes) {
    return processor_.serve_if_any(now, receive_time(source, target, bytes));
  }
  base::Nanos receive_time(std::uint32_t source, std::uint32_t target, std::uint64_t bytes) const {
    return costs(source, target).receive.at(bytes);
  }
  /// Requests the reception of a frame for another host, and its preparation for the next host.
  base::Nanos pass(base::Nanos now, std::uint32_t source, std::uint32_t target,
                   std::uint64_t bytes) {
    const tuning::FrameCosts& one = costs(source, target);
    return processor_.serve_if_any(now, one.receive.at(bytes) + one.send.at(bytes));
  }
  /// Requests a fold or copy that takes the duration `time`.
  base::Nanos work(base::Nanos now, base::Nanos time) { return processor_.serve(now, time); }
  /// Returns the time at which all requested work ends.
  base::Nanos works_until() const { return processor_.works_until(); }

  /// Returns the maximum number of bytes of prepared frames that wait for the outgoing link.
  std::uint64_t window(std::uint32_t source, std::uint32_t target) const {
    const std::uint64_t frame = plan_.lanes.frame_bytes;
    return costs(source, target).window(frame == 0 ? ~std::uint64_t{0} : frame);
  }

 private:
  const tuning::FrameCosts& costs(std::uint32_t source, std::uint32_t target) const {
    static const tuning::FrameCosts none;
    const auto& found = plan_.costs->between(plan_.cluster_of(source), plan_.cluster_of(target));
    return found == nullptr ? none : *found;
  }

  const Plan& plan_;
  tuning::Processor processor_;
};

}  // namespace paths
