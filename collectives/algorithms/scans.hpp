// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/scans.hpp — chain scans, global and per cluster, in rank order.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Scan along a chain of all ranks. Each rank receives, from the rank before it, the sum of the
/// values of all lower ranks.
Algorithm chain_scan_algorithm();
/// Scan with a chain in each cluster. Each cluster then sends its sum directly to all later
/// clusters, so the time contains the latency between clusters only once.
Algorithm clusters_scan_algorithm();

}  // namespace collectives
