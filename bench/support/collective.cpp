// SPDX-License-Identifier: Apache-2.0
// bench/support/collective.cpp — search for an allreduce among the graphs of a plan
#include "bench/support/collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <vector>

#include "base/settings.hpp"

namespace bench {
namespace {

using Graph = paths::Plan::PlanGraph;

Collective read_collective(const Graph& graph) {
  Collective collective;
  collective.name = graph.name;
  collective.algorithm = graph.algorithm.empty() ? "unknown" : graph.algorithm;
  collective.reduction = paths::reduction_of(graph.settings);
  const base::ReduceShape& shape = collective.reduction.shape;
  if (shape.count != 1 || shape.located)
    throw std::invalid_argument(
        fmt::format("collective {}: every thread contributes one scalar, but its template is '{}'",
                    graph.name, graph.settings.find("template")->text()));
  base::Mistakes told;  // ignored: the reader of the plan reported the same mistakes
  base::MapReader reader(
      base::Settings::map({{base::Settings::scalar("condition"), graph.condition}}), told,
      graph.name);
  if (!graph.condition.is_null())
    collective.condition = paths::read_condition(reader, shape.scalar);
  reader.has("condition");
  reader.finish();
  return collective;
}

}  // namespace

std::optional<bool> Collective::provable_outcome() const {
  if (!condition) return std::nullopt;
  return paths::provable_outcome(reduction.operation->name, reduction.sign, condition->comparison);
}

Collective find_collective(const paths::Plan& plan, const std::string& name) {
  std::vector<std::string> names;
  const Graph* chosen = nullptr;
  bool is_notified = false;
  for (const Graph& graph : plan.graphs) {
    is_notified = is_notified || !graph.kind.empty();
    if (graph.kind != "allreduce") continue;
    names.push_back(graph.name);
    if (name.empty() || name == graph.name) chosen = &graph;
  }
  if (names.empty())
    throw std::invalid_argument(
        fmt::format("the config has no collective of kind allreduce{}",
                    is_notified ? "" : "; one of the low level says under graphs which they are"));
  if (name.empty() && names.size() > 1)
    throw std::invalid_argument(
        fmt::format("--collective: the config has several, say which: {}", fmt::join(names, ", ")));
  if (chosen == nullptr)
    throw std::invalid_argument(
        fmt::format("--collective: expected an allreduce of the config, {}, found '{}'",
                    fmt::join(names, " or "), name));
  return read_collective(*chosen);
}

}  // namespace bench
