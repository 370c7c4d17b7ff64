// SPDX-License-Identifier: Apache-2.0
// paths/plan/finish_plan.hpp — what makes a plan of its parts.
#pragma once
#include "base/settings.hpp"
#include "paths/plan/plan.hpp"
#include "paths/plan/plan_text.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Counts slots, checks the plan as a whole (paths reach an element, agree where they meet, no
/// cycle, hosts reached by forwards only, templates fit) and every wrapper's settings, and sets
/// the digest. For plans built by code; read_plan() has done it. Throws ConfigError.
void finish_plan(Plan& plan, const WrapperKinds& kinds);
/// The same of a plan that was read, as far as it could be: `text` says where its parts stand, and
/// mistakes come on top of those there are. Throws ConfigError with all of them.
void finish_plan(Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes);

}  // namespace paths
