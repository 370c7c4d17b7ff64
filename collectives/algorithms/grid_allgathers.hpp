// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/grid_allgathers.hpp — allgathers of MPI libraries for grids.
//
// Gupta and Vadhiyar 2007, §6, compare their algorithm with these. The paper's `simple` is
// `direct`.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// MPICH of 2005, which selects an algorithm by total bytes. The thresholds are from its source,
/// because the paper has none.
Algorithm mpich_algorithm();
/// Spreading: in round k, each participant sends its block to the participant k positions after it.
Algorithm spreading_algorithm();
/// MagPIe. The paper does not specify how a cluster gathers its blocks; here all members send
/// directly to its first member.
/// Paper: Kielmann et al. 1999.
Algorithm magpie_algorithm();
/// MPICH-G2, as Gupta and Vadhiyar describe it in two lines.
/// Paper: Karonis et al. 2003.
Algorithm mpich_g2_algorithm();

}  // namespace collectives
