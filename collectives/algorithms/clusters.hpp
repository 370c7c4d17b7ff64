// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/clusters.hpp — collectives in which one host of each cluster represents
// the cluster.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Reduces or gathers within clusters, exchanges between the first hosts of clusters, and
/// broadcasts within clusters. Each piece of data crosses a link between clusters once, so the
/// total time contains the latency between clusters once. The collectives that a config declares
/// with `graph: all_to_all` use the same schedule.
Algorithm clusters_algorithm();
/// Alltoall through the first host of each cluster, with one message for each ordered pair of
/// clusters. While these messages are under way, hosts of the same cluster exchange their blocks
/// with each other.
Algorithm clusters_alltoall_algorithm();

}  // namespace collectives
