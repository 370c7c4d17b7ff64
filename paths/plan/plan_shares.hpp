// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan_shares.hpp — what each host has of a plan.
#pragma once
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Sets the plan's shares and numbers its graphs. Needs a plan without cycles whose kinds exist.
void share_plan(Plan& plan, const WrapperKinds& kinds);

}  // namespace paths
