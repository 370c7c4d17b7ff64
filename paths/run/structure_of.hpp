// SPDX-License-Identifier: Apache-2.0
// paths/run/structure_of.hpp — structure of a plan, as traces store it.
#pragma once
#include "eventspace/structure.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Returns the structure of a plan. Hosts, wrappers, stages and paths have the same numbers in the
/// structure as in the plan. Each wrapper has the Job of its kind. Positions contain names of files
/// without folders, because the folders may differ between the hosts of a run. All hosts therefore
/// make the same structure.
/// Requires: all kinds of the plan exist.
eventspace::Structure structure_of(const Plan& plan, const WrapperKinds& kinds);

}  // namespace paths
