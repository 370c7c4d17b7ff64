// SPDX-License-Identifier: Apache-2.0
// paths/run/run_switch.hpp — emulated switch of a cluster as a process of a run.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "paths/keys/run_key.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Runs the switch of a cluster whose hosts are processes. The hosts send to other clusters through
/// the switch, because each link has one queue, which must be in one process. The switch has no
/// threads. It is not a host of the plan, and the routes of messages do not contain it. `run_key`
/// is the key of the run; nullptr if the run has none.
///
/// Blocks: until each host of the cluster has ended, is lost, or has missed the plan's deadline to
///         connect, and until the hosts' messages have left.
/// Throws: TravelError if the switch cannot listen. std::invalid_argument if there is no such
///         switch, or no address for it.
void run_switch(const std::shared_ptr<const Plan>& plan, std::uint32_t cluster,
                const RunKey* run_key = nullptr);

/// Returns the clusters whose emulated switches must run as processes on the machine of `hosts`:
/// clusters whose exit is one of these hosts.
std::vector<std::uint32_t> switches_beside(const Plan& plan,
                                           const std::vector<std::uint32_t>& hosts);

}  // namespace paths
