// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/alltoall.hpp — pairwise and Bruck alltoall.
#pragma once
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// Appends one member's steps of a pairwise exchange in a team. The member sends to the members at
/// distance 1, 2, 3, ... `results[r]` is the range of the member's `out` for the block from the
/// participant with rank r.
void append_pairwise(Steps& steps, const CollectiveSpec& task, const Team& team,
                     std::span<const Range> results, Channel channel = 0);

/// Pairwise: each participant sends to the participants at distance 1, 2, 3, ... ("circular" in the
/// paper).
/// Paper: Vadhiyar et al. 2000.
Algorithm pairwise_algorithm();
/// Bruck: a block travels in hops whose lengths are powers of two and sum to the distance between
/// its sender and its receiver. Bruck's algorithm takes fewer rounds than the pairwise exchange,
/// but transfers more bytes.
Algorithm bruck_alltoall_algorithm();

}  // namespace collectives
