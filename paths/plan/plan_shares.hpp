// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan_shares.hpp — division of a plan into one part for each host.
#pragma once
#include "paths/plan/check_plan.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Sets Plan::shares, which has the part of the plan for each host, and numbers the graphs.
/// Requires: the plan has no cycles and only known kinds.
void share_plan(Plan& plan, const PlanKinds& kinds);

}  // namespace paths
