// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/barriers.hpp — nobody goes on before everybody has come.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Each tells those 1, 2, 4, ... behind it that it has come, and so has whoever told it.
Algorithm dissemination_algorithm();
/// The extended ring: a token goes round twice.
Algorithm ring_barrier_algorithm();

}  // namespace collectives
