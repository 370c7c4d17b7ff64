// SPDX-License-Identifier: Apache-2.0
// collectives/cost/processors.hpp — simulated processors of hosts, and the time that their work
// takes.
#pragma once
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "collectives/cost/network.hpp"
#include "collectives/schedule/step.hpp"

namespace pricing::simulation {

/// The processors of all hosts and exits of a network. Functions that request work return when the
/// work ends.
class Processors {
 public:
  explicit Processors(const Network& network)
      : network_(network), processors_(network.outgoing.size()) {}

  /// Whether frames have costs, instead of messages.
  bool has_frame_costs() const { return !network_.frame_costs.empty(); }
  /// Returns the costs of the frames of a message, which has a source and a target.
  template <class Message>
  const tuning::FrameCosts& costs(const Message& message) const {
    return *network_.frame_costs[network_.link_index(message.source, message.target)];
  }
  /// Returns the rate of a reduction or a copy; 0 = it takes no time.
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
  /// The same, except that work without time does not wait.
  base::Nanos work_if_any(collectives::Rank me, base::Nanos now, base::Nanos time) {
    return processors_[me].serve_if_any(now, time);
  }

 private:
  const Network& network_;
  std::vector<tuning::Processor> processors_;
};

}  // namespace pricing::simulation
