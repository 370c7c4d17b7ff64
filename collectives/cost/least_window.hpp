// SPDX-License-Identifier: Apache-2.0
// collectives/cost/least_window.hpp — least number of unfinished steps with which a schedule does
// not deadlock.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// Returns the least window of at least `from` with which all programs end. Returns nullopt if the
/// programs deadlock with every window. The window is the maximum number of unfinished steps of a
/// participant. Steps run as in the executor of schedules, but no message is transferred before its
/// receiving step is ready.
///
/// Why: With a smaller window, a run can use up its credit and then deadlock until its deadline.
/// Cost: Time is proportional to the number of steps, and independent of the number of elements.
std::optional<std::size_t> least_window(std::vector<collectives::Program> programs,
                                        const collectives::Topology& topology, const Ports& ports,
                                        std::size_t from = 1);

}  // namespace pricing
