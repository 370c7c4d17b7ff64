// SPDX-License-Identifier: Apache-2.0
// collectives/cost/least_window.hpp — least window of steps with which a schedule ends.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// Returns the least window, of at least `from` steps, with which the programs of all participants
/// terminate. Returns nothing if they deadlock with every window. Steps run as in an executor, but
/// no message is transferred before its receiver requests it.
///
/// Why: If the window is smaller and no credit is left, a run blocks until its deadline.
/// Cost: Time is proportional to the number of steps, and independent of the number of elements.
std::optional<std::size_t> least_window(std::vector<collectives::Program> programs,
                                        const collectives::Topology& topology, const Ports& ports,
                                        std::size_t from = 1);

}  // namespace pricing
