// SPDX-License-Identifier: Apache-2.0
// paths/config/read_graphs.cpp — reader of the graphs of a low-level config.
#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/near_match.hpp"
#include "paths/config/algorithm.hpp"
#include "paths/config/low_level.hpp"
#include "paths/joins/condition.hpp"
#include "paths/joins/reduction.hpp"

namespace paths {
namespace {

/// Word for the kind of an exchange. An exchange has no joins, so no kind of wrapper has this name.
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
  read_condition(reader, reduction_of(graph.settings).shape.scalar);
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
  if (graph.kind.empty())  // without a valid kind, other keys cannot be checked
    for (const auto& [key, setting] : value.entries()) reader.has(key.text());
  reader.finish();
  return graph;
}

/// State of the check of one declared graph.
struct CheckedGraph {
  const Plan::PlanGraph* graph = nullptr;
  bool has_paths = false;
  /// Identity of the last Settings object that was found to agree with the settings of the graph;
  /// nullptr = no such object yet.
  const void* right_settings = nullptr;
};

/// Reports a collective whose declaration differs from the settings of its joins, or of the
/// wrappers that check its condition. Such a declaration would mislead the reader of the config.
/// `checked` has, for each stage, the graph with which the stage was compared last.
void check_what_is_done(const Plan::PlanPath& path, CheckedGraph& known,
                        std::vector<const Plan::PlanGraph*>& checked, const WrapperKinds& kinds,
                        const Plan& plan, base::Mistakes& mistakes) {
  const Plan::PlanGraph& graph = *known.graph;
  for (StageId id = path.stage; id != no_stage; id = plan.stages[id].below) {
    // If an earlier path of this graph passed this stage, all stages below are already compared
    // with the graph.
    if (std::exchange(checked[id], &graph) == &graph) return;
    const Plan::PlanWrapper& wrapper = plan.wrappers[plan.stages[id].wrapper];
    const WrapperKind& kind = kinds.at(wrapper.kind);
    if (!kind.joins() && kind.job != Job::check) continue;
    if (kind.joins() && wrapper.kind != graph.kind) {
      mistakes.add(
          graph.position,
          fmt::format("graph {}: is declared to be of kind {}, but its paths meet in {} of kind {}",
                      graph.name, graph.kind, wrapper.name, wrapper.kind));
      return;
    }
    if (wrapper.settings.identity() == known.right_settings) continue;
    for (const auto& [key, value] : graph.settings.entries()) {
      const base::Settings* found = wrapper.settings.find(key.text());
      if (found == nullptr || found->text() == value.text()) continue;
      mistakes.add(value.position(),
                   fmt::format("graph {}: has {}: {}, but {} on its paths has {}", graph.name,
                               key.text(), value.text(),
                               wrapper.name.empty() ? wrapper.kind : wrapper.name, found->text()));
      return;
    }
    known.right_settings = wrapper.settings.identity();
  }
}

}  // namespace

void read_graphs(const base::Settings& section, const WrapperKinds& kinds, Plan& plan,
                 PlanText& text, base::Mistakes& mistakes) {
  for (const auto& [name, value] : section.entries())
    if (check_name(name, "a graph", mistakes))
      plan.graphs.push_back(read_graph(name, value, kinds, mistakes));
  if (!text.whole || !mistakes.empty()) return;
  std::unordered_map<std::string_view, CheckedGraph> graphs;
  for (const Plan::PlanGraph& graph : plan.graphs) graphs[graph.name].graph = &graph;
  std::vector<const Plan::PlanGraph*> checked(plan.stages.size());
  for (const Plan::PlanPath& path : plan.paths) {
    const auto found = graphs.find(path.graph);
    if (found == graphs.end()) continue;
    found->second.has_paths = true;
    if (found->second.graph->kind != exchange)
      check_what_is_done(path, found->second, checked, kinds, plan, mistakes);
  }
  for (const Plan::PlanGraph& graph : plan.graphs)
    if (!graphs.at(graph.name).has_paths)
      mistakes.add(graph.position, fmt::format("graph {}: no path belongs to it", graph.name));
}

}  // namespace paths
