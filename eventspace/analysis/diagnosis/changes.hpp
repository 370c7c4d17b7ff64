// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/changes.hpp — what was not the same during the whole run.
#pragma once
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Finding change: the least blocks of rounds that have another level, of at most 256 blocks.
inline constexpr std::size_t change_blocks = 3;
/// The least difference of two levels, as a share of the lower one and in nanoseconds.
inline constexpr double change_share = 0.01;
inline constexpr double change_nanos = 20'000;
/// The least difference, in standard deviations of a difference of two such means by chance.
inline constexpr double change_deviations = 8;

/// Finding stall: the least share of the run that computations exceed their base by, together, if
/// they are too few for the finding noisy_thread.
inline constexpr double stall_share = 0.005;

/// Finds threads and links that took longer in one part of the run than in another. Threads that
/// changed alike at the same time are one finding. Removes findings of noise that a change
/// explains.
void find_changes(const Report& report, std::vector<Finding>& found);
/// Finds threads that computed much longer than usual a few times. Threads of a host that did so at
/// the same time are one finding.
void find_stalls(const Report& report, std::vector<Finding>& found);

}  // namespace eventspace
