// SPDX-License-Identifier: Apache-2.0
// paths/plan/exits.hpp — which hosts gather news of a whole run: the exits of its clusters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// The host through which a cluster talks to others; its first host where the plan has no ways.
std::uint32_t exit_of(const Plan& plan, std::uint32_t cluster);

/// The clusters to whose exits a cluster's exit reports in a round, or from whose exits it
/// receives. After the last round each exit knows of all clusters: later rounds are empty. One
/// round is enough for up to 32 clusters, and for any number if some clusters have no way to each
/// other.
///
/// Paper: the dissemination barrier with n ways (Hoefler et al. 2006).
std::vector<std::uint32_t> clusters_in_round(const Plan& plan, std::uint32_t cluster,
                                             std::size_t round, bool are_told);

/// The hosts that a host connects to at its start, only to know whether they are there: its
/// cluster's exit, or of an exit the other exits. No pair is connected twice, and none that paths
/// connect anyway. Empty unless the config has the key `lanes`.
std::vector<std::uint32_t> hosts_to_meet(const Plan& plan, std::uint32_t host);

}  // namespace paths
