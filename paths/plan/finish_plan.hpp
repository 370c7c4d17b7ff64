// SPDX-License-Identifier: Apache-2.0
// paths/plan/finish_plan.hpp — completion of a plan from its parts.
#pragma once
#include "base/settings.hpp"
#include "paths/plan/plan.hpp"
#include "paths/plan/plan_text.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Completes a plan that was built by code. Counts slots, checks the plan as a whole and the
/// settings of every wrapper, divides the plan among hosts, and sets the digest. Plans from
/// read_plan() are already complete.
/// Throws: ConfigError if the plan breaks a rule. Every path must reach an element without a cycle.
///         Paths that meet in a join must have the same stages below the join. A path must reach
///         other hosts only by forwards. Templates must match.
void finish_plan(Plan& plan, const WrapperKinds& kinds);
/// Completes a plan that was read from a config. `text` has the positions of the plan's parts in
/// the config. Adds mistakes to `mistakes`.
/// Throws: ConfigError with all mistakes.
void finish_plan(Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes);

}  // namespace paths
