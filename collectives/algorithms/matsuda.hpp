// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/matsuda.hpp — broadcast and allreduce with limited senders.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Broadcast: scatter in the root's cluster, copy of pieces between clusters, allgather in each.
/// Only `senders` members of a cluster send to another cluster, given by pair of clusters (§2.5).
/// Other members forward their pieces to them.
/// Paper: Matsuda et al. 2006, §2.2.
Algorithm modified_van_de_geijn_algorithm();
/// Allreduce: reduce-scatter in each cluster, exchange and sum of pieces, allgather in each.
/// Paper: Matsuda et al. 2006, §2.3.
Algorithm modified_rabenseifner_algorithm();

}  // namespace collectives
