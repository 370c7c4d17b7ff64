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

/// Returns the clusters whose exits exchange news with the exit of `cluster` in one round. If
/// `are_notified` is true, returns the clusters to which this exit sends, otherwise those from
/// which it receives. After the last round each exit has the news of all clusters. For any later
/// round the result is empty. Up to 32 clusters need one round. If some clusters have no link to
/// each other, any number of clusters uses one round.
///
/// Paper: n-way dissemination barrier (Hoefler et al. 2006).
std::vector<std::uint32_t> clusters_in_round(const Plan& plan, std::uint32_t cluster,
                                             std::size_t round, bool are_notified);

/// Returns the hosts to which `host` connects at its start only to detect whether they are running.
/// An exit connects to other exits, so that each pair of exits is connected once. Any other host
/// connects to the exit of its cluster. Hosts to which paths of `host` lead are excluded. Empty
/// unless the config has the key `lanes`.
std::vector<std::uint32_t> hosts_to_meet(const Plan& plan, std::uint32_t host);

}  // namespace paths
