// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/composites.hpp — collectives composed of two simpler collectives.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Reduce: gathers all vectors at the root, which sums them. Allreduce: gathers all vectors at
/// every participant, which sums them.
/// Paper: Vadhiyar et al. 2000, table 1.
Algorithm gather_operate_algorithm();
/// Allgather: gathers all blocks at the first participant and then broadcasts them, along the same
/// multilevel tree.
/// Paper: Vadhiyar et al. 2000, table 1.
Algorithm gather_broadcast_algorithm();
/// Alltoall: gathers all blocks at the first participant, which then scatters them.
/// Paper: Vadhiyar et al. 2000, table 1.
Algorithm gather_scatter_algorithm();

}  // namespace collectives
