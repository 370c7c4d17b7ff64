// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/two_tier.hpp — reduce in clusters, exchange between them, broadcast.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// What Matsuda et al. 2006 compare their allreduce with: each cluster sums up at one host (reduce-
/// scatter and gather), these exchange whole vectors, and each cluster broadcasts as van de Geijn
/// does.
Algorithm two_tier_algorithm();

}  // namespace collectives
