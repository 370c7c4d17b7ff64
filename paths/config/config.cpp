// SPDX-License-Identifier: Apache-2.0
// paths/config/config.cpp — reads a config of either level.
#include "paths/config/config.hpp"

#include <fmt/format.h>

#include "paths/config/expand/expand.hpp"
#include "paths/config/instrument.hpp"
#include "paths/config/low_level.hpp"
#include "paths/plan/plan_shares.hpp"

namespace paths {
namespace {

/// Checks a plan whose parts are all there, and gives it its digest.
void finish(Plan& plan, const WrapperKinds& kinds, const PlanText& text, base::Mistakes& mistakes) {
  if (text.whole) {
    check_structure(plan, kinds, text, mistakes);
    if (mistakes.empty()) {
      count_slots(plan, kinds, text, mistakes);
      check_templates(plan, kinds, text, mistakes);
      check_drivers(plan, kinds, text, mistakes);
    }
  }
  check_wrappers(plan, kinds, text, mistakes);
  mistakes.throw_if_any();
  ENSURE(text.whole);
  plan.digest = base::digest_of(print_plan(plan, kinds));
  share_plan(plan, kinds);
}

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
  if (word && *word != "tcp" && *word != "ipc")
    mistakes.add({"command line", 0, 0},
                 fmt::format("--transport: expected tcp or ipc, found '{}'", *word));
}

}  // namespace

Plan read_plan(const base::Settings& settings, const WrapperKinds& kinds,
               const Overrides& overrides) {
  base::Mistakes mistakes;
  check_transport(overrides, mistakes);
  if (!settings.is_map()) {
    mistakes.add(settings.position(),
                 fmt::format("expected a config: a map with clusters (the high level) or hosts "
                             "(the low level), found {}",
                             settings.describe()));
    mistakes.throw_if_any();
  }
  base::Settings low_level = settings;
  if (is_high_level(settings)) {
    low_level = expand(settings, overrides, mistakes);
    if (!mistakes.empty()) check_network(settings, overrides, mistakes);
    mistakes.throw_if_any();
  } else {
    refuse_high_level_overrides(overrides, mistakes);
    if (overrides.traced) low_level = with_collectors(settings);
  }
  PlanText text;
  Plan plan = read_low_level(low_level, kinds, overrides, text, mistakes);
  finish(plan, kinds, text, mistakes);
  return plan;
}

Plan load_plan(const std::string& file, const WrapperKinds& kinds, const Overrides& overrides) {
  return read_plan(base::load_settings(file), kinds, overrides);
}

void finish_plan(Plan& plan, const WrapperKinds& kinds) {
  base::Mistakes mistakes;
  plan.index_names();
  for (const Plan::PlanWrapper& wrapper : plan.wrappers) {
    if (kinds.find(wrapper.kind) == nullptr)
      mistakes.add({}, fmt::format("wrapper '{}': {}", wrapper.name,
                                   not_named("a kind of wrapper",
                                             base::Settings::scalar(wrapper.kind), kinds.names())));
    if (wrapper.host >= plan.hosts.size())
      mistakes.add({}, fmt::format("wrapper '{}': expected a host below {}, found {}", wrapper.name,
                                   plan.hosts.size(), wrapper.host));
  }
  for (const Plan::PlanStage& stage : plan.stages)
    if (stage.wrapper >= plan.wrappers.size() ||
        (stage.below != no_stage && stage.below >= plan.stages.size()))
      mistakes.add({}, "a stage refers to what is not in the plan");
  for (const Plan::PlanPath& path : plan.paths)
    if (path.host >= plan.hosts.size() ||
        std::uint64_t{path.first_thread} + path.threads > plan.hosts[path.host].threads)
      mistakes.add(path.position,
                   fmt::format("path of {}: its threads are not in the plan", path.graph));
  mistakes.throw_if_any();
  finish(plan, kinds, {}, mistakes);
}

}  // namespace paths
