// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/plans.hpp — what holds of every plan.
#pragma once
#include <string>

#include "collectives/planner/port_state.hpp"

namespace planning {

/// The first thing that is wrong with it: everybody gets every piece once, from who has it; with a
/// model, nobody's port and no pair is taken twice. Empty if all holds.
std::string mistake_of(const Plan& plan, const PairCosts& costs);
std::string mistake_of(const Plan& plan, const PairCosts& costs, const PortModel& model);
/// How often a piece comes into a cluster other than its own, at most.
std::size_t copies_into_cluster(const Plan& plan, const PairCosts& costs);

}  // namespace planning
