// SPDX-License-Identifier: Apache-2.0
// collectives/cost/processors.hpp — simulated processors of hosts, and the time that their work
// takes.
#pragma once
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "collectives/cost/network.hpp"
#include "collectives/schedule/step.hpp"

namespace pricing::simulation {

/// The processors of all hosts and exits of a network. work() and work_if_any() return the time at
/// which the requested work ends.
class Processors {
 public:
  explicit Processors(const Network& network)
      : network_(network), processors_(network.outgoing.size()) {}

  /// Returns whether hosts spend time for each frame (Network::frame_costs), not for each message.
  bool has_frame_costs() const { return !network_.frame_costs.empty(); }
  /// Returns the costs for frames of a message. `Message` must have a `source` and a `target`.
  template <class Message>
  const tuning::FrameCosts& costs(const Message& message) const {
    return *network_.frame_costs[network_.link_index(message.source, message.target)];
  }
  /// Returns the rate of reductions or of copies in bytes per second; 0 = they take no time.
  double rate(collectives::Action action) const {
    return action == collectives::Action::reduce ? network_.fold_bytes_per_second
                                                 : network_.copy_bytes_per_second;
  }
  /// Returns the time of a reduction or a copy that accesses that many bytes.
  base::Nanos work_time(collectives::Rank me, collectives::Action action, Bytes bytes) const {
    return tuning::work_time(bytes, rate(action) * network_.speed(me));
  }

  base::Nanos work(collectives::Rank me, base::Nanos now, base::Nanos time) {
    return processors_[me].serve(now, time);
  }
  /// Like work(), but if `time` is 0, returns `now` and does not wait for earlier work.
  base::Nanos work_if_any(collectives::Rank me, base::Nanos now, base::Nanos time) {
    return processors_[me].serve_if_any(now, time);
  }

 private:
  const Network& network_;
  std::vector<tuning::Processor> processors_;
};

}  // namespace pricing::simulation
