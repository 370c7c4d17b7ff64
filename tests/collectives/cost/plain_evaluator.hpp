// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/plain_evaluator.hpp — the rules of predicted times with costs of hosts,
// without regard to speed.
#pragma once
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace test_support {

/// A network of equal hosts whose receiving rates are unlimited. A port sends one byte per
/// nanosecond. A message is one frame.
struct PlainNetwork {
  base::Nanos latency{0};
  tuning::FrameCosts costs;
  double fold_bytes_per_second = 0, copy_bytes_per_second = 0;
  std::vector<double> speeds;  ///< speed of each host
};

struct PlainResult {
  base::Nanos time{0};
  /// For each host, the times at which it has prepared its messages, in order.
  std::vector<std::vector<base::Nanos>> prepared;
};

/// Predicts the time of a schedule whose elements have one byte.
PlainResult evaluate_plainly(const std::vector<collectives::Program>& programs,
                             const PlainNetwork& network);

}  // namespace test_support
