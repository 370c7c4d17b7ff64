// SPDX-License-Identifier: Apache-2.0
// paths/config/config.cpp — reader of high-level and low-level configs.
#include "paths/config/config.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/near_match.hpp"
#include "paths/config/expand/expand.hpp"
#include "paths/config/instrument.hpp"
#include "paths/config/low_level.hpp"
#include "paths/plan/finish_plan.hpp"

namespace paths {
namespace {

void refuse_high_level_overrides(const Overrides& overrides, base::Mistakes& mistakes) {
  const auto refuse = [&](bool given, std::string_view option) {
    if (given)
      mistakes.add({"command line", 0, 0},
                   fmt::format("{} changes the high level of a config before it is expanded, but "
                               "this one is at the low level: no clusters, only hosts",
                               option));
  };
  refuse(overrides.algorithm.has_value(), "--algorithm");
  refuse(overrides.root.has_value(), "--root");
  refuse(overrides.instrument.has_value(), "--instrument");
}

void check_transport(const Overrides& overrides, base::Mistakes& mistakes) {
  const auto& word = overrides.transport;
  if (word && base::find_transport_kind(*word) == nullptr)
    mistakes.add({"command line", 0, 0},
                 fmt::format("--transport: expected {}, found '{}'",
                             base::either_of(base::transport_words()), *word));
}

}  // namespace

Plan read_plan(const base::Settings& settings, const WrapperKinds& kinds,
               const Overrides& overrides, base::Mistakes mistakes) {
  check_transport(overrides, mistakes);
  if (!settings.is_map()) {
    mistakes.add(settings.position(),
                 fmt::format("expected a config: a map with clusters (the high level) or hosts "
                             "(the low level), found {}",
                             settings.describe()));
    mistakes.throw_if_any();
  }
  Expansion config{.written = settings};
  if (is_high_level(settings)) {
    config = expand(settings, kinds, overrides, mistakes);
  } else {
    refuse_high_level_overrides(overrides, mistakes);
    if (overrides.traced) config.written = with_collectors(settings);
    if (settings.find("ways") != nullptr && settings.find("lanes") == nullptr)
      mistakes.add(settings.find("ways")->position(),
                   "ways: expected also the key lanes, which uses them");
  }
  const bool is_partial = config.is_partial;
  PlanText text;
  Plan plan = read_low_level(std::move(config), kinds, overrides, text, mistakes);
  if (is_partial) mistakes.throw_if_any();
  finish_plan(plan, kinds, text, mistakes);
  return plan;
}

Plan load_plan(const std::string& file, const WrapperKinds& kinds, const Overrides& overrides) {
  base::Mistakes mistakes;
  const base::Settings settings = base::load_settings(file, mistakes);
  return read_plan(settings, kinds, overrides, std::move(mistakes));
}

}  // namespace paths
