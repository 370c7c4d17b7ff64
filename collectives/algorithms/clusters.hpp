// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/clusters.hpp — collectives where one host of each cluster represents it.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Reduces or gathers within clusters, exchanges between the first hosts of clusters, and
/// broadcasts within clusters. Each datum crosses between clusters once. The total time therefore
/// contains the latency between clusters once. Collectives of a config with `graph: all_to_all` use
/// the same schedule.
Algorithm clusters_algorithm();
/// Alltoall through the first host of each cluster: one message for each ordered pair of clusters.
/// While these messages are under way, the hosts of each cluster exchange their own blocks.
Algorithm clusters_alltoall_algorithm();

}  // namespace collectives
