// SPDX-License-Identifier: Apache-2.0
// paths/plan/check_plan.hpp — checks of a plan as a whole.
#pragma once
#include <vector>

#include "paths/plan/plan.hpp"
#include "paths/plan/plan_text.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Kinds of all wrappers of a plan.
/// Requires: all kinds exist.
struct PlanKinds {
  PlanKinds(const Plan& plan, const WrapperKinds& kinds);

  const WrapperKinds& all;
  std::vector<const WrapperKind*> of_wrapper;  ///< kind of each wrapper, by wrapper index
};

/// Counts the contributors of each wrapper and assigns slots. Reports a mistake if the count
/// differs from the number of contributors that the config declares.
void count_slots(Plan& plan, const PlanKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes);
/// Checks each stage with its host and its neighbouring stages, and each path. Reports cycles and
/// unused wrappers.
void check_structure(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes);
/// Checks that each wrapper and each element gets tuples of the template that it expects.
void check_templates(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                     base::Mistakes& mistakes);
/// Checks that no drivers (wrappers that start operations themselves) trigger each other for ever.
void check_drivers(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                   base::Mistakes& mistakes);
/// Checks the settings of every wrapper.
void check_wrappers(const Plan& plan, const PlanKinds& kinds, const PlanText& text,
                    base::Mistakes& mistakes);

}  // namespace paths
