// SPDX-License-Identifier: Apache-2.0
// paths/plan/check_plan.hpp — what must be true of a plan as a whole.
#pragma once
#include "paths/plan/plan.hpp"
#include "paths/plan/plan_text.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Counts slots; says what does not fit together in the plan as a whole.
void count_slots(Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes);
void check_structure(const Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes);
void check_templates(const Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes);
void check_drivers(const Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                   base::Mistakes& mistakes);
void check_wrappers(const Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                    base::Mistakes& mistakes);

}  // namespace paths
