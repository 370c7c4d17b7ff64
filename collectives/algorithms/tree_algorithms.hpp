// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/tree_algorithms.hpp — trees of one level and of all levels.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// One tree over all participants, whatever groups they are in.
Algorithm tree_algorithm();
/// Karonis et al. 2002: a tree at each level of the topology.
Algorithm multilevel_algorithm();
/// The barrier of Hensgen et al. 1988: winners of pairs go on, the champion wakes them.
Algorithm tournament_algorithm();

}  // namespace collectives
