// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan_shares.hpp — what each host has of a plan.
#pragma once
#include "paths/plan/check_plan.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Sets the plan's shares and numbers its graphs. Needs a plan without cycles whose kinds exist.
void share_plan(Plan& plan, const PlanKinds& kinds);

}  // namespace paths
