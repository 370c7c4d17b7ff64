// SPDX-License-Identifier: Apache-2.0
// paths/run/run_switch.hpp — the emulated switch of a cluster, as a process of a run.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/digest.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// What hosts of a cluster send to other ones passes it, where hosts are processes: each link of
/// the switch has one queue, and so one home. It has no threads, and is neither a host of the plan
/// nor a step of a way. `run` is the run's id, if somebody made one.
///
/// Blocks until all hosts of its cluster have ended, or are gone, or have not come before the
/// plan's deadline, and what they sent has left. Throws TravelError (cannot listen) and
/// std::invalid_argument (there is no such switch, or no address for it).
void run_switch(const std::shared_ptr<const Plan>& plan, std::uint32_t cluster,
                std::optional<base::Digest> run = {});

/// The clusters whose switches are processes on the machine of some of these hosts.
std::vector<std::uint32_t> switches_beside(const Plan& plan,
                                           const std::vector<std::uint32_t>& hosts);

}  // namespace paths
