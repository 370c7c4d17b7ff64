// SPDX-License-Identifier: Apache-2.0
// paths/plan_shares.hpp — what each host has of a plan.
#pragma once
#include <vector>

#include "paths/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// One share per host of the plan. Needs a plan without cycles whose kinds all exist.
std::vector<Plan::Share> share_plan(const Plan& plan, const WrapperKinds& kinds);

}  // namespace paths
