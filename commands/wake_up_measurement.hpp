// SPDX-License-Identifier: Apache-2.0
// commands/wake_up_measurement.hpp — time in which the hosts of a machine wake up.
#pragma once
#include <cstdint>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "paths/host/thread.hpp"
#include "paths/messages/group.hpp"

namespace commands {

/// Returns the time of a step in which each of `hosts` sends a byte to another one and receives a
/// byte: the smallest of several medians. The hosts sleep before they do the steps, as they do
/// before operations that are timed one by one. All of `hosts` call it at the same time. `group`
/// contains them.
/// Blocks: for about a second.
/// Throws: TravelError if a host is lost.
base::Nanos measure_step(paths::Thread& thread, paths::MessageGroup& group,
                         const std::vector<std::uint32_t>& hosts);

/// Returns which HostCosts::wake_up explains the time of a step if all hosts are on one machine;
/// 0 if the step was too fast. `latency` is the latency between two of the hosts.
base::Nanos wake_up_of(base::Nanos step, std::size_t hosts, std::size_t cores, base::Nanos latency,
                       const tuning::FrameCosts& costs);

}  // namespace commands
