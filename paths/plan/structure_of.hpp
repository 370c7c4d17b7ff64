// SPDX-License-Identifier: Apache-2.0
// paths/plan/structure_of.hpp — a plan as those see it who read its traces.
#pragma once
#include "eventspace/structure.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// With the plan's own numbers, the jobs that the wrappers' kinds have, and files in positions by
/// their names only, so that every host of a run makes the same one. The plan's kinds exist.
eventspace::Structure structure_of(const Plan& plan, const WrapperKinds& kinds);

}  // namespace paths
