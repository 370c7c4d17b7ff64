// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/plain_evaluator.hpp — a simple but slow evaluator of schedules with costs
// of hosts, for comparison.
#pragma once
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace test_support {

/// A network of equal hosts whose receiving rates are unlimited. Each port sends one byte per
/// nanosecond. Each message is one frame.
struct PlainNetwork {
  base::Nanos latency{0};
  tuning::FrameCosts costs;
  double fold_bytes_per_second = 0, copy_bytes_per_second = 0;
  std::vector<double> speeds;  ///< speed of each host
};

struct PlainResult {
  base::Nanos time{0};
  /// Times at which a host has prepared each of its messages, in order; indexed by host.
  std::vector<std::vector<base::Nanos>> prepared;
};

/// Predicts the time of a schedule whose elements have one byte.
PlainResult evaluate_plainly(const std::vector<collectives::Program>& programs,
                             const PlainNetwork& network);

}  // namespace test_support
