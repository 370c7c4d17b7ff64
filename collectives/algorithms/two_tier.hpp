// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/two_tier.hpp — allreduce through one host of each cluster.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// In each cluster, the first host gets the sum of the cluster by a reduce-scatter and a gather.
/// The first hosts of all clusters exchange these sums. Each cluster then broadcasts with
/// van_de_geijn().
/// Paper: Matsuda et al. 2006, where it is the baseline of their allreduce.
Algorithm two_tier_algorithm();

}  // namespace collectives
