// SPDX-License-Identifier: Apache-2.0
// paths/plan/exits.hpp — exits of clusters, and the rounds in which they inform each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// Returns the host through which a cluster communicates with other clusters. If the plan has no
/// routes (Plan::ways), this is the first host of the cluster.
std::uint32_t exit_of(const Plan& plan, std::uint32_t cluster);

/// The exits of all clusters inform each other of an event in rounds of messages. Returns the
/// clusters whose exits exchange messages with the exit of `cluster` in one round. If
/// `are_notified` is true, returns the clusters to which this exit sends, otherwise those from
/// which it receives. After the last round each exit is informed by all clusters. For any later
/// round the result is empty. Up to 32 clusters need one round. If two clusters have no link to
/// each other, there is one round, whatever the number of clusters.
///
/// Paper: n-way dissemination barrier (Hoefler et al. 2006).
std::vector<std::uint32_t> clusters_in_round(const Plan& plan, std::uint32_t cluster,
                                             std::size_t round, bool are_notified);

/// Returns the hosts to which `host` connects at its start only to detect whether they are running.
/// An exit connects to other exits, so that each pair of exits is connected once. Any other host
/// connects to the exit of its cluster. Hosts that are connected with `host` by paths are excluded.
/// Returns no hosts if the config does not have the key `lanes`.
std::vector<std::uint32_t> hosts_to_meet(const Plan& plan, std::uint32_t host);

}  // namespace paths
