// SPDX-License-Identifier: Apache-2.0
// paths/plan/finish_plan.cpp — final checks of a plan, and computation of the plan's digest.
#include "paths/plan/finish_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "paths/plan/check_plan.hpp"
#include "paths/plan/names.hpp"
#include "paths/plan/plan_shares.hpp"
#include "paths/plan/print_plan.hpp"

namespace paths {
namespace {

/// Sets PlanWrapper::hosts_above of all wrappers.
void count_hosts_above(Plan& plan) {
  constexpr std::uint32_t unknown = ~std::uint32_t{0};
  std::vector<std::uint32_t> above(plan.stages.size(), unknown);
  for (const Plan::PlanPath& path : plan.paths) {
    std::uint32_t count = 0;
    for (StageId stage = path.stage;
         stage != no_stage && (above[stage] == unknown || above[stage] < count);) {
      above[stage] = count;
      Plan::PlanWrapper& wrapper = plan.wrappers[plan.stages[stage].wrapper];
      wrapper.hosts_above = std::max(wrapper.hosts_above, count);
      const StageId below = plan.stages[stage].below;
      if (below != no_stage && plan.host_of(below) != wrapper.host) ++count;
      stage = below;
    }
  }
}

}  // namespace

void finish_plan(Plan& plan, const WrapperKinds& kinds, const PlanText& text,
                 base::Mistakes& mistakes) {
  const PlanKinds known(plan, kinds);
  if (text.whole) {
    check_structure(plan, known, text, mistakes);
    if (mistakes.empty()) {
      count_slots(plan, known, text, mistakes);
      check_templates(plan, known, text, mistakes);
      check_drivers(plan, known, text, mistakes);
    }
  }
  check_wrappers(plan, known, text, mistakes);
  mistakes.throw_if_any();
  ENSURE(text.whole);
  share_plan(plan, known);
  count_hosts_above(plan);
  base::RunningDigest digest;
  print_plan(plan, kinds,
             [&digest](std::string_view piece) { digest.add(std::as_bytes(std::span(piece))); });
  plan.digest = digest.value();
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
      mistakes.add({}, "a stage refers to something that is not in the plan");
  for (const Plan::PlanPath& path : plan.paths)
    if (path.host >= plan.hosts.size() ||
        std::uint64_t{path.first_thread} + path.threads > plan.hosts[path.host].threads)
      mistakes.add(path.position,
                   fmt::format("path of {}: its threads are not in the plan", path.graph));
  mistakes.throw_if_any();
  finish_plan(plan, kinds, {}, mistakes);
}

}  // namespace paths
