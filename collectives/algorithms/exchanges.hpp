// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/exchanges.hpp — pieces exchanged among all, whatever groups there are.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Each a way of allgather, of reduce_scatter, or of both.
Algorithm ring_algorithm();
Algorithm direct_algorithm();
Algorithm bruck_algorithm();
Algorithm doubling_algorithm();
Algorithm halving_algorithm();
/// Rabenseifner's: reduce-scatter, then allgather (allreduce) or gather (reduce). With `ring` for
/// both it is the ring allreduce.
Algorithm rabenseifner_algorithm();

}  // namespace collectives
