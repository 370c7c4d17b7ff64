// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/matsuda.hpp — broadcast and allreduce with so many senders between
// clusters.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Matsuda et al. 2006, §2.2: scatter in the root's cluster, copy pieces between clusters,
/// allgather in each. Of the members of a cluster only `senders` send to another, by pair of
/// clusters (§2.5); the others forward their pieces to these.
Algorithm modified_van_de_geijn_algorithm();
/// §2.3: reduce-scatter in each cluster, exchange and sum up pieces, allgather in each.
Algorithm modified_rabenseifner_algorithm();

}  // namespace collectives
