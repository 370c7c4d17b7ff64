// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/stretched.hpp — pipelined two-level broadcast and allreduce.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// The broadcast and allreduce of Matsuda et al. 2006, repeated for every stretch, so that work
/// inside clusters, between them and at the root overlaps. Pieces are dealt anew for each stretch,
/// so that all hosts of two clusters communicate. The root of a broadcast never owns a piece,
/// because its network must send every byte once anyway. For long vectors it approaches the lower
/// bound.
Algorithm stretched_algorithm();

}  // namespace collectives
