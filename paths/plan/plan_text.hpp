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

/// Text from which each part of a plan was read. Checks of the whole plan use this text for the
/// positions in their messages. Empty for plans built by code.
struct PlanText {
  std::vector<base::Settings> stages;    ///< item of a path that declares the stage, by stage index
  std::vector<base::Settings> wrappers;  ///< name or declaration of the wrapper, by wrapper index
  /// For each wrapper whose declaration has a number of contributors: the wrapper's index, and the
  /// text of the number.
  std::vector<std::pair<std::uint32_t, base::Settings>> contributors;
  std::unordered_set<std::string> broken;  ///< names of wrappers that could not be read
  bool whole = true;                       ///< false if a mistake has removed paths or wrappers

  base::Position of_stage(StageId stage) const {
    return stage < stages.size() ? stages[stage].position() : base::Position{};
  }
  base::Position of_wrapper(std::uint32_t wrapper) const {
    return wrapper < wrappers.size() ? wrappers[wrapper].position() : base::Position{};
  }
};

}  // namespace paths
