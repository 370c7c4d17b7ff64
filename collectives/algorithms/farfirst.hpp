// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/farfirst.hpp — the whole vector to other clusters first.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// What Matsuda et al. 2006 compare their broadcast with: the root sends everything to one host of
/// each other cluster, and each cluster broadcasts as van de Geijn does.
Algorithm farfirst_algorithm();

}  // namespace collectives
