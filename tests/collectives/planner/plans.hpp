// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/plans.hpp — properties of every plan.
#pragma once
#include <string>

#include "collectives/planner/port_state.hpp"

namespace planning {

/// Returns the first mistake of a plan, or an empty text. Each host must get each piece once, from
/// a host that has it. With a port model, no port and no pair may carry two transfers at once.
std::string mistake_of(const Plan& plan, const PairCosts& costs);
std::string mistake_of(const Plan& plan, const PairCosts& costs, const PortModel& model);
/// Returns the largest number of times that a piece enters a cluster other than its own.
std::size_t copies_into_cluster(const Plan& plan, const PairCosts& costs);

}  // namespace planning
