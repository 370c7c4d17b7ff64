// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/goal.hpp — export of a schedule in GOAL, the language of LogGOPSim.
#pragma once
#include <iosfwd>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Writes a graph of sends, receives and computations for each participant, for example:
///
///     rank 0 {
///     l0: recv 8b from 1 tag 0
///     l1: calc 0
///     l1 requires l0
///     }
///
/// Step k has the label `lk`. For each cell that step k reads or writes, step k requires the step
/// that wrote the cell last. For each cell that step k writes, it also requires the steps that have
/// read the cell after that last write. The executor of schedules waits for the same steps.
/// Messages between two participants have distinct tags, so that a receive always matches the right
/// message. Sums and copies take no time. The token of a barrier is one byte, because GOAL has no
/// empty messages.
/// Throws: std::invalid_argument if a size in bytes exceeds 64 bits.
/// Paper: Hoefler et al. 2009.
void write_goal(std::ostream& into, const Algorithm& algorithm, const CollectiveSpec& task,
                const Parameters& parameters, Count element_bytes);

}  // namespace collectives
