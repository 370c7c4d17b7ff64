// SPDX-License-Identifier: Apache-2.0
// commands/wake_up_measurement.hpp — time in which the hosts of a machine wake up.
#pragma once
#include <cstdint>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "paths/host/thread.hpp"
#include "paths/messages/group.hpp"

namespace commands {

/// Returns the time of a step in which each of `hosts` sends a byte to another host and receives a
/// byte. The result is the least of the medians of several batches. The hosts sleep before the
/// steps, as they do before operations that are timed one by one.
/// Blocks: for about a second.
/// Requires: all `hosts` call the function at the same time. `group` contains all `hosts`.
/// Throws: TravelError if a host is lost.
base::Nanos measure_step(paths::Thread& thread, paths::MessageGroup& group,
                         const std::vector<std::uint32_t>& hosts);

/// Returns the value of HostCosts::wake_up that explains the time of a step, if all hosts are on
/// one machine. Returns 0 if the step takes no longer than without waking up. `latency` is the
/// latency between two of the hosts.
base::Nanos wake_up_of(base::Nanos step, std::size_t hosts, std::size_t cores, base::Nanos latency,
                       const tuning::FrameCosts& costs);

}  // namespace commands
