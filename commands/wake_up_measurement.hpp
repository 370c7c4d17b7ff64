// SPDX-License-Identifier: Apache-2.0
// commands/wake_up_measurement.hpp — time in which the hosts of a machine wake up.
#pragma once
#include <cstdint>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "paths/host/thread.hpp"

namespace commands {

/// Returns the time of a step of a barrier by dissemination: each of `hosts` sends an empty message
/// to another host and receives one. The result is the least of the medians of several batches. The
/// hosts sleep before each barrier, as they do before operations that are timed one by one.
/// Blocks: for about two seconds.
/// Requires: the first threads of all `hosts`, at least two, call the function at the same time.
/// Throws: as groups::run_clocked() does.
base::Nanos measure_step(paths::Thread& thread, const std::vector<std::uint32_t>& hosts);

/// Returns the expected duration of measure_step(). `latency` is the latency between two of the
/// hosts.
base::Nanos expected_time_of_step_measurement(std::size_t hosts, base::Nanos latency);

/// Returns the value of HostCosts::wake_up that explains the time of a step, if all hosts are on
/// one machine. Returns 0 if the step takes no longer than without waking up. `latency` is the
/// latency between two of the hosts.
base::Nanos wake_up_of(base::Nanos step, std::size_t hosts, std::size_t cores, base::Nanos latency,
                       const tuning::FrameCosts& costs);

}  // namespace commands
