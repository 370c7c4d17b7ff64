// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/recursive_doubling.hpp — whole sums exchanged over doubling distances.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Allreduce and barrier among any number: those beyond a power of two sum up with their lower
/// neighbour first. Scans send to twice the distance every round.
Algorithm recursive_doubling_algorithm();

}  // namespace collectives
