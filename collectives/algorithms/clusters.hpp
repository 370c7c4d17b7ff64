// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/clusters.hpp — collectives where one host of each cluster represents it.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Reduces or gathers within clusters, exchanges between the first hosts of clusters, and
/// broadcasts within clusters. Data are sent between clusters only once, so the time contains the
/// latency between clusters once. Declared trees with `all_to_all` use the same schedule.
Algorithm clusters_algorithm();
/// The same for alltoall: one message for each ordered pair of clusters, with an exchange within
/// clusters in the meantime.
Algorithm clusters_alltoall_algorithm();

}  // namespace collectives
