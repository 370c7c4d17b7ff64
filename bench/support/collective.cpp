// SPDX-License-Identifier: Apache-2.0
// bench/support/collective.cpp — reads an allreduce back from the wrappers of a plan.
#include "bench/support/collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <vector>

#include "base/settings.hpp"

namespace bench {
namespace {

constexpr std::string_view join_kind = "allreduce", check_kind = "condition_check";

/// The wrapper among those of a path that says most: the condition check, else a join.
const paths::Plan::PlanWrapper* telling_wrapper(const paths::Plan& plan,
                                                const paths::Plan::PlanPath& path) {
  const paths::Plan::PlanWrapper* join = nullptr;
  for (auto stage = path.stage; stage != paths::no_stage; stage = plan.stages[stage].below) {
    const auto& wrapper = plan.wrappers[plan.stages[stage].wrapper];
    if (wrapper.kind == check_kind) return &wrapper;
    if (wrapper.kind == join_kind) join = &wrapper;
  }
  return join;
}

std::string algorithm_of(const paths::Plan::PlanWrapper& wrapper) {
  const base::Settings* relaxation = wrapper.settings.find("relaxation");
  if (relaxation == nullptr) return "sequential";
  return relaxation->text() == "conditional" ? "conditional" : "magpie";
}

Collective read_collective(const std::string& name, const paths::Plan::PlanWrapper& wrapper) {
  Collective collective;
  collective.name = name;
  collective.algorithm = algorithm_of(wrapper);
  base::Mistakes none;  // the plan was checked, and other keys are the wrapper's own business
  base::MapReader reader(wrapper.settings, none, wrapper.kind);
  collective.reduction = paths::read_reduction(reader);
  const base::ReduceShape& shape = collective.reduction.shape;
  collective.condition = paths::read_condition(reader, "condition", shape.scalar);
  reader.finish();
  if (shape.count != 1 || shape.located)
    throw std::invalid_argument(
        fmt::format("collective {}: every thread contributes one scalar, but its template is '{}'",
                    name, wrapper.settings.find("template")->text()));
  return collective;
}

}  // namespace

std::optional<bool> Collective::provable_outcome() const {
  if (!condition) return std::nullopt;
  return paths::provable_outcome(reduction.operation->name, reduction.sign, condition->comparison);
}

Collective find_collective(const paths::Plan& plan, const std::string& name) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> names;
  const paths::Plan::PlanWrapper* found = nullptr;
  for (const auto& path : plan.paths) {
    if (path.threads == 0 || !seen.insert(path.graph).second) continue;
    const auto* wrapper = telling_wrapper(plan, path);
    if (wrapper == nullptr) continue;
    names.push_back(path.graph);
    if (name.empty() || name == path.graph) found = wrapper;
  }
  if (names.empty()) throw std::invalid_argument("the config has no collective of kind allreduce");
  if (name.empty() && names.size() > 1)
    throw std::invalid_argument(
        fmt::format("--collective: the config has several, say which: {}", fmt::join(names, ", ")));
  if (found == nullptr)
    throw std::invalid_argument(
        fmt::format("--collective: expected an allreduce of the config, {}, found '{}'",
                    fmt::join(names, " or "), name));
  return read_collective(name.empty() ? names.front() : name, *found);
}

}  // namespace bench
