// SPDX-License-Identifier: Apache-2.0
// paths/plan/check_plan.hpp — what must be true of a plan as a whole.
#pragma once
#include <vector>

#include "paths/plan/plan.hpp"
#include "paths/plan/plan_text.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// The kinds of all wrappers of a plan, which are known.
struct PlanKinds {
  PlanKinds(const Plan& plan, const WrapperKinds& kinds);

  const WrapperKinds& all;
  std::vector<const WrapperKind*> of_wrapper;  ///< by its index
};

/// Counts slots; says what does not fit together in the plan as a whole.
void count_slots(Plan& plan, const PlanKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes);
void check_structure(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes);
void check_templates(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes);
void check_drivers(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                   base::Mistakes& mistakes);
void check_wrappers(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                    base::Mistakes& mistakes);

}  // namespace paths
