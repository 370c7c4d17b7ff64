// SPDX-License-Identifier: Apache-2.0
// paths/run/run_switch.hpp — emulated switch of a cluster as a process of a run.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/digest.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Runs the switch of a cluster whose hosts are processes. The hosts send to other clusters through
/// the switch. A process of its own is necessary, because each link of the switch has one queue for
/// all hosts. The switch has no threads. It is not a host of the plan, and the routes of messages
/// do not contain it. `run` is the id of the run; nullopt if it has none.
///
/// Blocks: until each host of the cluster has ended, is lost, or has missed the plan's deadline to
///         connect, and until the hosts' messages have left.
/// Throws: TravelError (cannot listen) and std::invalid_argument (no such switch, or no address for
///         it).
void run_switch(const std::shared_ptr<const Plan>& plan, std::uint32_t cluster,
                std::optional<base::Digest> run = {});

/// Returns the clusters whose emulated switches must run as processes on the machine of `hosts`:
/// clusters whose exit is one of these hosts.
std::vector<std::uint32_t> switches_beside(const Plan& plan,
                                           const std::vector<std::uint32_t>& hosts);

}  // namespace paths
