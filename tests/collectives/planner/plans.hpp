// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/plans.hpp — checks of plans of an allgather, for tests of all planners.
#pragma once
#include <string>

#include "collectives/planner/port_state.hpp"

namespace planning {

/// Returns the first mistake of a plan; "" = no mistake. Each host must get each piece (a block or
/// a part of it) exactly once, from a host that has it. With `model`, no port and no pair of hosts
/// may carry two transfers at the same time.
std::string mistake_of(const Plan& plan, const PairCosts& costs);
std::string mistake_of(const Plan& plan, const PairCosts& costs, const PortModel& model);
/// Returns the largest number of times that a piece enters a cluster that does not own the piece.
std::size_t copies_into_cluster(const Plan& plan, const PairCosts& costs);

}  // namespace planning
