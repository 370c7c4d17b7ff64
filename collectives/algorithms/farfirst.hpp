// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/farfirst.hpp — broadcast that sends the whole vector to other clusters
// first.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// The root sends the whole vector to one host in each of the other clusters. Then every cluster
/// broadcasts with van_de_geijn().
/// Paper: Matsuda et al. 2006, where it is the baseline of their broadcast.
Algorithm farfirst_algorithm();

}  // namespace collectives
