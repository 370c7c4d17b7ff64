// SPDX-License-Identifier: Apache-2.0
// paths/plan/exits.hpp — exits of clusters, which gather news of a whole run in rounds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// Returns the host through which a cluster communicates with others. Without ways in the plan this
/// is its first host.
std::uint32_t exit_of(const Plan& plan, std::uint32_t cluster);

/// Returns the clusters with whose exits the exit of `cluster` exchanges news in a round. If
/// `are_notified` is true, it reports to them; otherwise it receives from them. After the last
/// round each exit has the news of all clusters; the result for later rounds is empty. There is one
/// round for up to 32 clusters. If some clusters have no link to each other, there is one round for
/// any number of clusters.
///
/// Paper: n-way dissemination barrier (Hoefler et al. 2006).
std::vector<std::uint32_t> clusters_in_round(const Plan& plan, std::uint32_t cluster,
                                             std::size_t round, bool are_notified);

/// Returns the hosts to which a host connects at its start, only to detect whether they are there.
/// These are the exit of its cluster, or the other exits if it is an exit itself. Each pair of
/// exits is connected once. Hosts to which paths connect it are excluded. Empty unless the config
/// has the key `lanes`.
std::vector<std::uint32_t> hosts_to_meet(const Plan& plan, std::uint32_t host);

}  // namespace paths
