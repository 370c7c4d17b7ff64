// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/matsuda.hpp — broadcast and allreduce with limited senders.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Broadcast: scatters in the root's cluster, copies the pieces to other clusters, then runs an
/// allgather in each cluster. For each ordered pair of clusters, the parameter `senders` limits how
/// many members of the first cluster send to the second (§2.5). All other members forward their
/// pieces to these senders.
/// Paper: Matsuda et al. 2006, §2.2.
Algorithm modified_van_de_geijn_algorithm();
/// Allreduce: runs a reduce-scatter in each cluster, exchanges and sums the pieces between
/// clusters, then runs an allgather in each cluster.
/// Paper: Matsuda et al. 2006, §2.3.
Algorithm modified_rabenseifner_algorithm();

}  // namespace collectives
