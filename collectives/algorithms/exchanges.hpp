// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/exchanges.hpp — exchanges of pieces, without regard to groups.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Each of these functions returns an algorithm for allgather, for reduce_scatter, or for both.
Algorithm ring_algorithm();
Algorithm direct_algorithm();
Algorithm bruck_algorithm();
Algorithm doubling_algorithm();
Algorithm halving_algorithm();
/// Rabenseifner: reduce-scatter, then allgather (allreduce) or gather (reduce). If the parameters
/// select `ring` for both parts of an allreduce, the algorithm is the ring allreduce.
Algorithm rabenseifner_algorithm();

}  // namespace collectives
