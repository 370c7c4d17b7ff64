// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan_text.cpp — positions of stages and wrappers in the config.
#include "paths/plan/plan_text.hpp"

namespace paths {

base::Position PlanText::of_stage(StageId stage) const {
  return stage < stages.size() ? stages[stage].position() : base::Position{};
}

base::Position PlanText::of_wrapper(std::uint32_t wrapper) const {
  return wrapper < wrappers.size() ? wrappers[wrapper].position() : base::Position{};
}

}  // namespace paths
