// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/barriers.hpp — dissemination and ring barriers.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Dissemination: each participant notifies those at distance 1, 2, 4, ... A notification means
/// that its sender has arrived, and all participants that notified the sender.
Algorithm dissemination_algorithm();
/// Extended ring: a token travels around the ring twice.
Algorithm ring_barrier_algorithm();

}  // namespace collectives
