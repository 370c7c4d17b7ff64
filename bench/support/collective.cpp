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
#include "paths/config/relaxation.hpp"

namespace bench {
namespace {

using paths::Relaxation;

/// What the wrappers of a thread's path, and of the paths behind them, say of a collective.
struct Found {
  const paths::Plan::PlanWrapper* telling = nullptr;  ///< the check, else a join
  paths::Algorithm algorithm;
};

std::uint64_t number(const paths::Plan::PlanWrapper& wrapper, std::string_view key,
                     std::uint64_t fallback) {
  const base::Settings* found = wrapper.settings.find(key);
  return found == nullptr ? fallback : std::stoull(found->text());
}

void read_check(const paths::Plan::PlanWrapper& check, Found& found) {
  Relaxation& relaxation = found.algorithm.relaxation;
  found.telling = &check;
  const base::Settings* word = check.settings.find("relaxation");  // not of a tree
  found.algorithm.all_to_all = word != nullptr || check.kind == "lagged_check";
  if (check.kind == "lagged_check") {
    relaxation.rounds = number(check, "rounds", 1);
    relaxation.every = number(check, "every", 1);
    relaxation.kind = relaxation.every > 1 ? Relaxation::Kind::budget : Relaxation::Kind::lagged;
    return;
  }
  if (word != nullptr && word->text() == "conditional")
    relaxation.kind = Relaxation::Kind::conditional;
  if (check.settings.find("asks") == nullptr) return;
  relaxation.transfer = Relaxation::Transfer::demand;
  relaxation.count = number(check, "ask_for", 1);
}

Found look_along(const paths::Plan& plan, const paths::Plan::PlanPath& path) {
  Found found;
  found.algorithm.all_to_all = false;
  for (auto stage = path.stage; stage != paths::no_stage; stage = plan.stages[stage].below) {
    const auto& wrapper = plan.wrappers[plan.stages[stage].wrapper];
    Relaxation& relaxation = found.algorithm.relaxation;
    if (wrapper.kind == "allreduce") found.telling = &wrapper;
    if (wrapper.kind == "periodic") {
      relaxation.kind = Relaxation::Kind::periodic;
      relaxation.rounds = number(wrapper, "every", 1);
    } else if (wrapper.kind == "lagged") {
      relaxation.kind = Relaxation::Kind::lagged;
      relaxation.rounds = number(wrapper, "rounds", 1);
    } else if (wrapper.kind == "condition_check" || wrapper.kind == "lagged_check") {
      read_check(wrapper, found);
      break;
    }
  }
  return found;
}

/// Whether its clusters' tuples are told unasked: then pushes begin its other paths.
bool is_pushed(const paths::Plan& plan, const std::string& graph) {
  return std::any_of(plan.paths.begin(), plan.paths.end(), [&](const auto& path) {
    return path.threads == 0 && path.graph == graph &&
           plan.wrappers[plan.stages[path.stage].wrapper].kind == "push";
  });
}

Collective read_collective(const std::string& name, const Found& found) {
  const paths::Plan::PlanWrapper& wrapper = *found.telling;
  Collective collective;
  collective.name = name;
  collective.algorithm = paths::algorithm_text(found.algorithm);
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
  Found found;
  for (const auto& path : plan.paths) {
    if (path.threads == 0 || !seen.insert(path.graph).second) continue;
    const Found along = look_along(plan, path);
    if (along.telling == nullptr) continue;
    names.push_back(path.graph);
    if (name.empty() || name == path.graph) found = along;
  }
  if (names.empty()) throw std::invalid_argument("the config has no collective of kind allreduce");
  if (name.empty() && names.size() > 1)
    throw std::invalid_argument(
        fmt::format("--collective: the config has several, say which: {}", fmt::join(names, ", ")));
  if (found.telling == nullptr)
    throw std::invalid_argument(
        fmt::format("--collective: expected an allreduce of the config, {}, found '{}'",
                    fmt::join(names, " or "), name));
  const std::string chosen = name.empty() ? names.front() : name;
  Relaxation& relaxation = found.algorithm.relaxation;
  if (relaxation.transfer == Relaxation::Transfer::pull && is_pushed(plan, chosen))
    relaxation.transfer = Relaxation::Transfer::push;
  return read_collective(chosen, found);
}

}  // namespace bench
