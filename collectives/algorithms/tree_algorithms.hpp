// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/tree_algorithms.hpp — algorithms on one-level and multilevel trees.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// One tree over all participants; groups are ignored.
Algorithm tree_algorithm();
/// A tree at each level of the topology.
/// Paper: Karonis et al. 2002.
Algorithm multilevel_algorithm();
/// Tournament barrier: winners of pairs continue, and the champion wakes the losers.
/// Paper: Hensgen et al. 1988.
Algorithm tournament_algorithm();

}  // namespace collectives
