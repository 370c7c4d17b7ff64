// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/scans.hpp — sums of all up to me, or before me, in the order of ranks.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// From rank to rank.
Algorithm chain_scan_algorithm();
/// A chain in each cluster; clusters tell all later ones their sums: one latency between them.
Algorithm clusters_scan_algorithm();

}  // namespace collectives
