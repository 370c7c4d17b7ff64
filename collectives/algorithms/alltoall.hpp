// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/alltoall.hpp — something for everybody from everybody.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Vadhiyar et al. 2000 call it circular: to the member behind me by 1, 2, 3, ...
Algorithm pairwise_algorithm();
/// Blocks travel by the powers of two that their distance consists of: few rounds, more bytes.
Algorithm bruck_alltoall_algorithm();

}  // namespace collectives
