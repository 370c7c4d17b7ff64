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

/// Text from which each part of a plan was read. Messages about mistakes of the whole plan point at
/// it. Empty for plans built by code.
struct PlanText {
  std::vector<base::Settings> stages;    ///< item of the path that made the stage
  std::vector<base::Settings> wrappers;  ///< name of the wrapper, or item written in place
  std::vector<std::pair<std::uint32_t, base::Settings>> contributors;  ///< wrapper, count
  std::unordered_set<std::string> broken;  ///< names of wrappers that could not be read
  bool whole = true;                       ///< false if mistakes removed paths or wrappers

  base::Position of_stage(StageId stage) const;
  base::Position of_wrapper(std::uint32_t wrapper) const;
};

}  // namespace paths
