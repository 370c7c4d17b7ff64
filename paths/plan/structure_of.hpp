// SPDX-License-Identifier: Apache-2.0
// paths/plan/structure_of.hpp — structure of a plan, as traces store it.
#pragma once
#include "eventspace/structure.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Returns the structure of a plan. It numbers hosts, wrappers, stages and paths as the plan does.
/// Each wrapper has the Job of its kind. Positions contain the names of files without their
/// folders, which may differ on the hosts of a run. All hosts therefore make the same structure.
/// Requires: all kinds of the plan exist.
eventspace::Structure structure_of(const Plan& plan, const WrapperKinds& kinds);

}  // namespace paths
