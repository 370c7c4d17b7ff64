// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/goal.hpp — a schedule in GOAL, the language of LogGOPSim.
#pragma once
#include <iosfwd>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Writes a graph of sends, receives and computations for each participant (Hoefler et al. 2009):
///
///     rank 0 {
///     l0: recv 8b from 1 tag 0
///     l1: calc 0
///     l1 requires l0
///     }
///
/// Step k has the label `lk`. It requires the last writers of what it touches and, of what it
/// writes, those who have read it since: what the executor waits for, too. The messages of a pair
/// have a tag each, so that none is taken for another whatever order they are sent in. Sums and
/// copies take no time; the token of a barrier is one byte, for there are no messages of none.
/// Throws: std::invalid_argument if a size in bytes is beyond 64 bits.
void write_goal(std::ostream& into, const Algorithm& algorithm, const CollectiveSpec& task,
                const Parameters& parameters, Count element_bytes);

}  // namespace collectives
