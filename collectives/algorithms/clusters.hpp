// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/clusters.hpp — one host of each cluster speaks for it to all others.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Together in clusters, all to all between their first hosts, apart in clusters: one latency
/// between clusters. What the `all_to_all` of declared trees does, as a schedule.
Algorithm clusters_algorithm();
/// The same for alltoall: one message for each ordered pair of clusters, exchange inside them
/// meanwhile.
Algorithm clusters_alltoall_algorithm();

}  // namespace collectives
