// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/two_tier.hpp — allreduce through one host of each cluster.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Each cluster sums at one host (reduce-scatter and gather). These hosts exchange whole vectors,
/// and each cluster broadcasts with van_de_geijn().
/// Paper: Matsuda et al. 2006, where it is the baseline of their allreduce.
Algorithm two_tier_algorithm();

}  // namespace collectives
