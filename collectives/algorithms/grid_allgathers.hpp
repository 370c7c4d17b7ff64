// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/grid_allgathers.hpp — allgathers of libraries that were used on grids, as
// Gupta and Vadhiyar 2007, §6, compare with them; its `simple` is `direct`.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// What MPICH of 2005 takes by the bytes of all: its thresholds are from its source, since the
/// paper has none.
Algorithm mpich_algorithm();
/// Each sends its block to the next, then to the one behind that, in rounds.
Algorithm spreading_algorithm();
/// MagPIe (Kielmann et al. 1999). That members send straight to the first of their cluster is not
/// in the paper.
Algorithm magpie_algorithm();
/// MPICH-G2 (Karonis et al. 2003), of which the paper has two lines.
Algorithm mpich_g2_algorithm();

}  // namespace collectives
