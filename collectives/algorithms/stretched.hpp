// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/stretched.hpp — pipelined two-level broadcast and allreduce.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// The broadcast and allreduce of Matsuda et al. 2006, repeated for every stretch (section) of the
/// vector, so that work inside clusters, between clusters and at the root overlaps. Each stretch
/// assigns its pieces to other owners, so that all hosts of two clusters communicate. The root of
/// a broadcast never owns a piece, because its network must send every byte once anyway. For long
/// vectors the time approaches the lower bound.
Algorithm stretched_algorithm();

}  // namespace collectives
