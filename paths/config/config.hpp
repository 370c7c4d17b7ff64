// SPDX-License-Identifier: Apache-2.0
// paths/config/config.hpp — reader that makes a plan from a config.
#pragma once
#include <string>

#include "base/settings.hpp"
#include "paths/config/overrides.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Reads a high-level or low-level config, and returns its plan. `mistakes` are those that were
/// found when its text was read.
/// Throws: ConfigError that lists `mistakes` and all other mistakes of the config.
Plan read_plan(const base::Settings& settings, const WrapperKinds& kinds,
               const Overrides& overrides = {}, base::Mistakes mistakes = {});
Plan load_plan(const std::string& file, const WrapperKinds& kinds, const Overrides& overrides = {});

}  // namespace paths
