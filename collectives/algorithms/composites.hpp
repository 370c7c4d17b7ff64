// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/composites.hpp — collectives composed of others.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Reduce: gathers all vectors at the root, which sums them. Allreduce: gathers all vectors at
/// every participant, which sums them.
/// Paper: Vadhiyar et al. 2000, table 1 (also for the two algorithms below).
Algorithm gather_operate_algorithm();
/// Allgather: gathers at the first participant along a multilevel tree, then broadcasts.
Algorithm gather_broadcast_algorithm();
/// Alltoall: gathers all blocks at the first participant, which then scatters them.
Algorithm gather_scatter_algorithm();

}  // namespace collectives
