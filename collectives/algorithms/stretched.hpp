// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/stretched.hpp — two levels, stretch after stretch: the bound for long
// ones.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Broadcast and allreduce of Matsuda et al. 2006, done again for every stretch, so that what goes
/// on inside clusters, between them, and at the root overlaps by itself; and with pieces dealt anew
/// for each, so that all hosts of two clusters talk. The root of a broadcast never owns a piece:
/// its network must send every byte once anyhow.
Algorithm stretched_algorithm();

}  // namespace collectives
