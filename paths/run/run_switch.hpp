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
/// the switch. The switch is one process because each link between clusters has one queue for the
/// messages of all hosts. The switch has no threads. It is not a host of the plan, and the routes
/// of messages do not contain it. `run_key` is the key of the run; nullptr = the run has no key.
///
/// Blocks: until each host of the cluster has ended, is lost, or has missed the plan's deadline to
///         connect, and until the hosts' messages have left.
/// Throws: TravelError if the switch cannot listen. std::invalid_argument if the cluster has no
///         such switch, or if there is no address for the switch.
void run_switch(const std::shared_ptr<const Plan>& plan, std::uint32_t cluster,
                const RunKey* run_key = nullptr);

/// Returns the clusters whose emulated switches must run as processes on the machine of `hosts`.
/// These are the clusters whose exit is in `hosts`.
std::vector<std::uint32_t> switches_beside(const Plan& plan,
                                           const std::vector<std::uint32_t>& hosts);

}  // namespace paths
