// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/scans.hpp — chain scans, global and per cluster, in rank order.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// A chain from rank to rank.
Algorithm chain_scan_algorithm();
/// A chain in each cluster. Each cluster sends its sum to all later ones, which costs one latency
/// between clusters.
Algorithm clusters_scan_algorithm();

}  // namespace collectives
