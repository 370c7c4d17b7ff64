// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/composites.hpp — collectives made of others (Vadhiyar et al. 2000, table
// 1).
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Reduce: everything is gathered at the root, which sums up. Allreduce: everywhere.
Algorithm gather_operate_algorithm();
/// Allgather: gathered at the first of all up a multilevel tree, and broadcast down it.
Algorithm gather_broadcast_algorithm();
/// Alltoall: gathered at the first of all, and scattered.
Algorithm gather_scatter_algorithm();

}  // namespace collectives
