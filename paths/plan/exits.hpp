// SPDX-License-Identifier: Apache-2.0
// paths/plan/exits.hpp — exits of clusters, and the rounds in which they inform each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// Returns the host through which a cluster communicates with other clusters. If the plan has no
/// routes (Plan::ways), the exit is the first host of the cluster.
std::uint32_t exit_of(const Plan& plan, std::uint32_t cluster);

/// Returns the clusters with whose exits the exit of `cluster` communicates in the round `round`,
/// counted from 0. In these rounds the exits of all clusters inform each other of an event. If
/// `are_notified` is true, returns the clusters to which this exit sends in the round. Otherwise
/// returns the clusters from which this exit receives in the round. After the last round each exit
/// has the news of all clusters. For a later round the result is empty. For up to 32 clusters, one
/// round is enough. There is also only one round if some pair of clusters has no link.
///
/// Paper: n-way dissemination barrier (Hoefler et al. 2006).
std::vector<std::uint32_t> clusters_in_round(const Plan& plan, std::uint32_t cluster,
                                             std::size_t round, bool are_notified);

/// Returns the hosts to which `host` connects at its start only to detect whether they are running.
/// A host that is no exit connects to the exit of its cluster. An exit connects to exits with
/// higher indexes, so that each pair of exits is connected once. The result excludes hosts to which
/// a path of the plan connects `host` anyway. Returns no hosts if the config does not have the key
/// `lanes`.
std::vector<std::uint32_t> hosts_to_meet(const Plan& plan, std::uint32_t host);

}  // namespace paths
