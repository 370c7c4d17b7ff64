// SPDX-License-Identifier: Apache-2.0
// paths/config/read_graphs.cpp — reads what a config of the low level says its graphs are.
#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/near_match.hpp"
#include "paths/config/algorithm.hpp"
#include "paths/config/low_level.hpp"
#include "paths/rounds/condition.hpp"
#include "paths/rounds/reduction.hpp"

namespace paths {
namespace {

/// An exchange is no collective of joins: its kind has no wrapper's name.
constexpr std::string_view exchange = "exchange";

void read_collective(base::MapReader& reader, const CollectiveKind& kind, Plan::PlanGraph& graph) {
  if (has_algorithms(graph.kind)) {
    graph.algorithm = reader.word("algorithm", "");
    std::string wrong;
    if (!graph.algorithm.empty() && !parse_algorithm(graph.algorithm, graph.kind, wrong))
      reader.mistake("algorithm", wrong);
  }
  if (kind.read != nullptr) kind.read(reader);
  graph.settings = kind.own_settings(reader.map());
  if (!reader.has("condition") || !has_algorithms(graph.kind)) return;
  graph.condition = reader.take("condition");
  read_condition(reader, "condition", reduction_of(graph.settings).shape.scalar);
}

Plan::PlanGraph read_graph(const base::Settings& name, const base::Settings& value,
                           const WrapperKinds& kinds, base::Mistakes& mistakes) {
  Plan::PlanGraph graph;
  graph.name = name.text();
  graph.position = name.position();
  base::MapReader reader(value, mistakes, "graph " + graph.name);
  std::vector<std::string_view> known = kinds.collectives();
  known.push_back(exchange);
  if (!reader.has("kind")) {
    reader.take_required("kind", base::either_of(known));
  } else {
    graph.kind = reader.choice("kind", known, "");
  }
  graph.of = reader.word("of", graph.name);
  const WrapperKind* kind = kinds.find(graph.kind);
  if (kind != nullptr) read_collective(reader, *kind->collective, graph);
  if (graph.kind.empty())  // then nobody knows what else it may say
    for (const auto& [key, setting] : value.entries()) reader.has(key.text());
  reader.finish();
  return graph;
}

/// What is said of a collective must be what its joins and checks do, or whoever believes it is
/// misled.
void check_what_is_done(const Plan::PlanPath& path, const Plan::PlanGraph& graph,
                        const WrapperKinds& kinds, const Plan& plan, base::Mistakes& mistakes) {
  for (StageId id = path.stage; id != no_stage; id = plan.stages[id].below) {
    const Plan::PlanWrapper& wrapper = plan.wrappers[plan.stages[id].wrapper];
    const WrapperKind& kind = *kinds.find(wrapper.kind);
    if (!kind.joins() && kind.job != Job::check) continue;
    if (kind.joins() && wrapper.kind != graph.kind) {
      mistakes.add(graph.position, fmt::format("graph {}: is said to be of kind {}, but its paths "
                                               "meet in {} of kind {}",
                                               graph.name, graph.kind, wrapper.name, wrapper.kind));
      return;
    }
    for (const auto& [key, value] : graph.settings.entries()) {
      const base::Settings* found = wrapper.settings.find(key.text());
      if (found == nullptr || found->text() == value.text()) continue;
      mistakes.add(value.position(),
                   fmt::format("graph {}: has {}: {}, but {} on its paths has {}", graph.name,
                               key.text(), value.text(),
                               wrapper.name.empty() ? wrapper.kind : wrapper.name, found->text()));
      return;
    }
  }
}

}  // namespace

void read_graphs(const base::Settings& section, const WrapperKinds& kinds, Plan& plan,
                 PlanText& text, base::Mistakes& mistakes) {
  for (const auto& [name, value] : section.entries())
    if (check_name(name, "a graph", mistakes))
      plan.graphs.push_back(read_graph(name, value, kinds, mistakes));
  if (!text.whole || !mistakes.empty()) return;
  std::unordered_map<std::string_view, const Plan::PlanGraph*> graphs;
  for (const Plan::PlanGraph& graph : plan.graphs) graphs.emplace(graph.name, &graph);
  std::unordered_set<std::string_view> with_paths;
  for (const Plan::PlanPath& path : plan.paths) {
    const auto found = graphs.find(path.graph);
    if (found == graphs.end()) continue;
    with_paths.insert(found->first);
    if (found->second->kind != exchange)
      check_what_is_done(path, *found->second, kinds, plan, mistakes);
  }
  for (const Plan::PlanGraph& graph : plan.graphs)
    if (!with_paths.contains(graph.name))
      mistakes.add(graph.position, fmt::format("graph {}: no path is of it", graph.name));
}

}  // namespace paths
