// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/grid_allgathers.hpp — allgathers of MPI libraries for grids.
//
// Gupta and Vadhiyar 2007, §6, compare their planner Min³ with these allgathers. The allgather that
// the paper calls `simple` is the algorithm `direct`.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// The allgather of MPICH in 2005, which selects an algorithm by the total number of bytes. The
/// thresholds are from the source of MPICH, because the paper states none.
Algorithm mpich_algorithm();
/// Spreading: in round k, each participant sends its block to the participant k positions after it.
Algorithm spreading_algorithm();
/// The allgather of MagPIe. The paper does not specify how a cluster gathers its blocks. In this
/// implementation, all members send directly to the first member.
/// Paper: Kielmann et al. 1999.
Algorithm magpie_algorithm();
/// The allgather of MPICH-G2, as Gupta and Vadhiyar describe it in two lines.
/// Paper: Karonis et al. 2003.
Algorithm mpich_g2_algorithm();

}  // namespace collectives
