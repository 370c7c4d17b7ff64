// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan_text.hpp — where each part of a plan was written.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// What a person wrote for each part of a plan, to point at when the whole does not fit together.
/// Empty for plans built by code.
struct PlanText {
  std::vector<base::Settings> stages;    ///< the item of the path that made the stage
  std::vector<base::Settings> wrappers;  ///< the name, or the item written in place
  std::vector<std::pair<std::uint32_t, base::Settings>> contributors;  ///< by wrapper
  std::unordered_set<std::string> broken;  ///< names of wrappers that could not be read
  bool whole = true;  ///< false when paths or wrappers were left out because of mistakes

  base::Position of_stage(StageId stage) const;
  base::Position of_wrapper(std::uint32_t wrapper) const;
};

}  // namespace paths
