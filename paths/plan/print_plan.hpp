// SPDX-License-Identifier: Apache-2.0
// paths/plan/print_plan.hpp — a plan as the low level of the config.
#pragma once
#include <string>

#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// The low level as text: read_plan() gives the same plan, with the same digest.
std::string print_plan(const Plan& plan, const WrapperKinds& kinds);

}  // namespace paths
