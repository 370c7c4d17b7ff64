// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/tree_algorithms.hpp — algorithms on one-level and multilevel trees.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// One tree over all participants. It ignores the groups of the topology.
Algorithm tree_algorithm();
/// A multilevel tree, which has a tree in each group of the topology.
/// Paper: Karonis et al. 2002.
Algorithm multilevel_algorithm();
/// Tournament barrier along a binomial tree. In each round, one participant of each pair notifies
/// the other participant and then waits. The participant that remains at the end releases all other
/// participants down the tree.
/// Paper: Hensgen et al. 1988.
Algorithm tournament_algorithm();

}  // namespace collectives
