// SPDX-License-Identifier: Apache-2.0
// collectives/cost/least_window.hpp — least window of steps with which a schedule ends.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// Returns the least window, at least `from` steps, with which the programs of all participants
/// end. Returns nothing if they end with no window. Steps run as in an executor, but no message
/// moves before its receiver asks for it.
///
/// Why: With a smaller window, a run waits until its deadline when no credit helps.
/// Cost: Time is proportional to the number of steps, not of elements.
std::optional<std::size_t> least_window(std::vector<collectives::Program> programs,
                                        const collectives::Topology& topology, const Ports& ports,
                                        std::size_t from = 1);

}  // namespace pricing
