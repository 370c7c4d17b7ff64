// SPDX-License-Identifier: Apache-2.0
// collectives/cost/least_window.hpp — least limit of unfinished steps without deadlock.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// The window is the maximum number of unfinished steps of a participant. Returns the least window,
/// at least `from`, with which the programs of all participants terminate. Returns nothing if they
/// deadlock with every window. Steps run as in an executor, but no message is transferred before
/// its receiver requests it.
///
/// Why: With a smaller window, a run that has used up its credit blocks until its deadline.
/// Cost: Time is proportional to the number of steps, and independent of the number of elements.
std::optional<std::size_t> least_window(std::vector<collectives::Program> programs,
                                        const collectives::Topology& topology, const Ports& ports,
                                        std::size_t from = 1);

}  // namespace pricing
