// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/barriers.hpp — dissemination and ring barriers.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Dissemination barrier: in successive rounds, each participant notifies the participants at
/// distance 1, 2, 4, ... A notification means that its sender has arrived, and that all
/// participants that notified the sender have arrived.
Algorithm dissemination_algorithm();
/// Extended ring barrier: a token travels around the ring of all participants twice.
Algorithm ring_barrier_algorithm();

}  // namespace collectives
