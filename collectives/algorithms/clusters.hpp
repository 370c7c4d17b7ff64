// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/clusters.hpp — collectives where one host of each cluster represents it.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Reduces or gathers within clusters, exchanges between their first hosts, and broadcasts within
/// clusters. It costs one latency between clusters. It is the schedule of `all_to_all` in declared
/// trees.
Algorithm clusters_algorithm();
/// The same for alltoall: one message for each ordered pair of clusters, with an exchange within
/// clusters in the meantime.
Algorithm clusters_alltoall_algorithm();

}  // namespace collectives
