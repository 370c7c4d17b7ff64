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
/// Step k has the label `lk`. It requires the last writer of each cell that it reads or writes.
/// For a cell that it writes, it also requires the steps that read the cell since that last write.
/// The executor waits for the same steps. Messages between two participants have distinct tags, so
/// that a receive always matches the right message. Sums and copies take no time. The token of a
/// barrier is one byte, because GOAL has no empty messages.
/// Throws: std::invalid_argument if a size in bytes exceeds 64 bits.
/// Paper: Hoefler et al. 2009.
void write_goal(std::ostream& into, const Algorithm& algorithm, const CollectiveSpec& task,
                const Parameters& parameters, Count element_bytes);

}  // namespace collectives
