// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan_text.hpp — positions of the parts of a plan in the config.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Text from which each part of a plan was read. Checks of the whole plan use it for the positions
/// in their messages. Empty for plans built by code.
struct PlanText {
  std::vector<base::Settings> stages;    ///< by stage: the item of a path that declares it
  std::vector<base::Settings> wrappers;  ///< by wrapper: its name, or its declaration on a path
  /// Each wrapper with a declared number of contributors: its index, and the text of the number.
  std::vector<std::pair<std::uint32_t, base::Settings>> contributors;
  std::unordered_set<std::string> broken;  ///< names of wrappers that could not be read
  bool whole = true;                       ///< false if mistakes removed paths or wrappers

  base::Position of_stage(StageId stage) const {
    return stage < stages.size() ? stages[stage].position() : base::Position{};
  }
  base::Position of_wrapper(std::uint32_t wrapper) const {
    return wrapper < wrappers.size() ? wrappers[wrapper].position() : base::Position{};
  }
};

}  // namespace paths
