// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/recursive_doubling.hpp — exchange of whole sums at doubling distances.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Recursive doubling, for allreduce, barrier and scans. If the number of participants is not a
/// power of two, the excess participants of an allreduce first give their values to a neighbour. In
/// scans, the distance to the participant that receives the sum doubles each round.
Algorithm recursive_doubling_algorithm();

}  // namespace collectives
