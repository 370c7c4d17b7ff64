// SPDX-License-Identifier: Apache-2.0
// paths/host/plan_instance.cpp — construction of a host's part of a plan.
#include "paths/host/plan_instance.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/errors.hpp"
#include "pastset/errors.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/elements/shared_elements.hpp"
#include "paths/host/host.hpp"
#include "paths/plan/path_tuples.hpp"

namespace paths {
namespace {

/// Returns the value of Stage::hosts_to_reply for a stage. It is the number of crossings below the
/// stage, plus the number of hosts above the last wrapper of its path.
std::uint32_t hosts_to_reply(const Plan& plan, StageId stage) {
  std::uint32_t count = 0;
  for (StageId below = plan.stages[stage].below; below != no_stage;
       below = plan.stages[stage].below) {
    if (plan.host_of(stage) != plan.host_of(below)) ++count;
    stage = below;
  }
  return count + plan.wrappers[plan.stages[stage].wrapper].hosts_above;
}

}  // namespace

PlanInstance::PlanInstance(Deployment& deployment, SharedElements& shared,
                           const WrapperKinds& kinds)
    : deployment_(deployment) {
  const Plan& plan = deployment.plan();
  const Plan::HostPlan& share = plan.shares[deployment.index()];
  for (const std::uint32_t path : share.paths) {
    const bool has_threads = plan.paths[path].threads > 0;
    values_.push_back(has_threads ? &paths::values_of(plan, kinds, path) : nullptr);
  }
  make_elements(share, shared);
  make_wrappers(share, kinds);
  make_stages(share);
}

void PlanInstance::make_elements(const Plan::HostPlan& share, SharedElements& shared) {
  pastset::Space& space = deployment_.host().space();
  for (const std::uint32_t i : share.elements) {
    const auto& planned = deployment_.plan().elements[i];
    if (planned.shared && shared.are_shared()) {
      elements_.push_back(shared.make(planned));
      space.adopt(elements_.back());
      continue;
    }
    pastset::ElementOptions options;
    options.delta = planned.delta;
    options.keep_newest = planned.keep_newest;
    elements_.push_back(
        space.enter(deployment_.name_in_space(planned.name), planned.tuple_template, options));
  }
  std::ranges::sort(elements_, {}, &pastset::Element::name);
}

void PlanInstance::make_wrappers(const Plan::HostPlan& share, const WrapperKinds& kinds) {
  base::Mistakes mistakes;
  for (const std::uint32_t i : share.wrappers) {
    const auto& planned = deployment_.plan().wrappers[i];
    base::MapReader reader(planned.settings, mistakes, planned.kind);
    const MakeWrapper make =
        kinds.at(planned.kind)
            .read(reader, WrapperPlace{deployment_.plan(), i, deployment_.index(), planned.slots});
    reader.finish();
    mistakes.throw_if_any();
    wrappers_.push_back(make(deployment_));
    wrappers_.back()->set_name(planned.name.empty() ? planned.kind : planned.name);
  }
}

void PlanInstance::make_stages(const Plan::HostPlan& share) {
  const Plan& plan = deployment_.plan();
  std::unordered_map<std::uint32_t, Wrapper*> made;
  for (std::size_t i = 0; i < share.wrappers.size(); ++i)
    made[share.wrappers[i]] = wrappers_[i].get();
  for (const StageId id : share.stages) {
    const auto& planned = plan.stages[id];
    Stage& stage = stages_[id];
    stage.wrapper = made.at(planned.wrapper);
    stage.id = id;
    stage.below_id = planned.below;
    stage.slot = planned.slot;
    stage.role = planned.role;
    const bool is_here =
        planned.below != no_stage && plan.host_of(planned.below) == deployment_.index();
    stage.below = is_here ? &stages_[planned.below] : nullptr;
  }
  for (auto& [id, stage] : stages_) {
    stage.nonblocking = OperationSet::all();
    for (const Stage* passed = &stage; passed != nullptr; passed = passed->below)
      stage.nonblocking = stage.nonblocking & passed->wrapper->nonblocking_operations();
    // Going down from `stage`, `last` becomes the first stage whose wrapper is a join or needs a
    // context. If there is no such stage, `last` becomes the path's last stage on this host.
    const Stage* last = &stage;
    while (!last->wrapper->needs_context() && !last->wrapper->joins() && last->below != nullptr)
      last = last->below;
    stage.needs_context = last->wrapper->needs_context();
    if (stage.below != nullptr || stage.below_id == no_stage) continue;
    stage.hosts_to_reply = hosts_to_reply(plan, id);
    exits_.push_back(&stage);
  }
}

const Stage* PlanInstance::stage(StageId id) const {
  const auto found = stages_.find(id);
  return found == stages_.end() ? nullptr : &found->second;
}

const std::vector<std::uint32_t>& PlanInstance::paths() const {
  return deployment_.plan().shares[deployment_.index()].paths;
}

const PathValues& PlanInstance::values_of(std::uint32_t path) const {
  const auto found = std::ranges::lower_bound(paths(), path);
  ENSURE(found != paths().end() && *found == path);
  const PathValues* const values = values_[static_cast<std::size_t>(found - paths().begin())];
  ENSURE(values != nullptr);
  return *values;
}

void PlanInstance::start_wrappers() {
  for (const auto& wrapper : wrappers_) wrapper->start();
}

void PlanInstance::stop_wrappers() {
  for (const auto& wrapper : wrappers_) wrapper->stop();
}

void PlanInstance::drain_wrappers() {
  for (const auto& wrapper : wrappers_) wrapper->drain();
}

base::Nanos PlanInstance::end_late(base::Nanos now) {
  base::Nanos next = base::Nanos::max();
  for (const auto& wrapper : wrappers_) next = std::min(next, wrapper->end_late(now));
  return next;
}

void PlanInstance::give_up() {
  for (const auto& wrapper : wrappers_) wrapper->give_up();
}

void PlanInstance::mark_elements(const std::string& reason) {
  each_element("marked", [&](pastset::Element& element) { element.mark_error(reason); });
}

void PlanInstance::delete_elements() {
  each_element("deleted", [&](pastset::Element& element) {
    deployment_.host().space().delete_element(element.name());
  });
}

/// Calls `act` for each element. If `act` fails, logs the error and continues with the next
/// element.
/// Why: a process that maps an element may have damaged it, which must not affect other elements.
template <class Act>
void PlanInstance::each_element(const char* what, Act act) {
  for (const auto& element : elements_) {
    try {
      act(*element);
    } catch (const pastset::Deleted&) {  // no action: the program has deleted the element
    } catch (const pastset::ElementError& error) {
      spdlog::warn("host {}: element {} is not {}: {}", deployment_.name(), element->name(), what,
                   error.what());
    }
  }
}

}  // namespace paths
