// SPDX-License-Identifier: Apache-2.0
// tests/support/read_config.hpp — plans from the text of configs, and back.
#pragma once
#include <optional>
#include <string>

#include "base/errors.hpp"
#include "paths/config/config.hpp"
#include "paths/plan/print_plan.hpp"
#include "tests/support/thrown.hpp"
#include "wrappers/all.hpp"

namespace test_support {

/// Returns program options in which only `option` is set.
template <class Option, class Value>
paths::Overrides given(Option paths::Overrides::*option, const Value& value) {
  paths::Overrides overrides;
  overrides.*option = value;
  return overrides;
}
/// Returns the program options of a traced run. `algorithm`, if set, is the algorithm of all
/// collectives.
inline paths::Overrides traced(const std::optional<std::string>& algorithm = {}) {
  paths::Overrides overrides = given(&paths::Overrides::traced, true);
  overrides.algorithm = algorithm;
  return overrides;
}

/// Reads `text` as a config file named "test.yaml" and returns its plan.
inline paths::Plan read_config(const std::string& text, const paths::Overrides& overrides = {}) {
  return paths::read_plan(base::parse_settings(text, "test.yaml"), wrappers::all_kinds(),
                          overrides);
}
inline std::string low_level_of(const paths::Plan& plan) {
  return paths::print_plan(plan, wrappers::all_kinds());
}
/// Returns the error message for an invalid config, or "nothing" for a valid config.
inline std::string config_error(const std::string& text, const paths::Overrides& overrides = {}) {
  return thrown<base::ConfigError>([&] { read_config(text, overrides); });
}

}  // namespace test_support
