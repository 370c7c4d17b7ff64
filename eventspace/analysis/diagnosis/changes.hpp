// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/changes.hpp — detection of changes and stalls during a run.
#pragma once
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// A run is divided into at most 256 blocks of rounds. A finding `change` needs at least this many
/// consecutive blocks with another mean (level).
inline constexpr std::size_t change_blocks = 3;
/// Least difference of two levels: as a share of the lower one, and in nanoseconds.
inline constexpr double change_share = 0.01;
inline constexpr double change_nanos = 20'000;
/// Least difference of two levels as a multiple of its standard deviation, so that chance does not
/// explain it.
inline constexpr double change_deviations = 8;

/// Finding stall: least total time, as a share of the run, by which computations of a thread exceed
/// their base. If there are enough of these computations for a finding noisy_thread, that finding
/// is made instead.
inline constexpr double stall_share = 0.005;

/// Finds threads and links that took longer in one part of the run than in another. Threads that
/// changed alike at the same time are one finding. Removes findings noisy_thread that a change
/// explains.
void find_changes(const Report& report, std::vector<Finding>& found);
/// Finds threads that computed much longer than usual a few times. Threads of a host that did so at
/// the same time are one finding.
void find_stalls(const Report& report, std::vector<Finding>& found);

}  // namespace eventspace
