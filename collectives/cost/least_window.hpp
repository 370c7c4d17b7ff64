// SPDX-License-Identifier: Apache-2.0
// collectives/cost/least_window.hpp — how many unfinished steps hosts must admit for a schedule to
// end.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/cost/ports.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace pricing {

/// The least window, at least `from` steps, with which the programs of all participants end. They
/// run as executors run them, but no message moves before its receiver asks for it. None if they
/// end with no window.
///
/// Why:     with a smaller one a run waits until its deadline where no credit helps out.
/// Cost:    that of the steps, not of the elements; nothing is timed.
std::optional<std::size_t> least_window(std::vector<collectives::Program> programs,
                                        const collectives::Topology& topology, const Ports& ports,
                                        std::size_t from = 1);

}  // namespace pricing
