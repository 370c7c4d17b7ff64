// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/barriers.hpp — dissemination and ring barriers.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Dissemination: each participant notifies those at distance 1, 2, 4, ... that it and all
/// participants from which it was notified have arrived.
Algorithm dissemination_algorithm();
/// Extended ring: a token travels around the ring twice.
Algorithm ring_barrier_algorithm();

}  // namespace collectives
