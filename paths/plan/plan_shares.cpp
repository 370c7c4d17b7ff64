// SPDX-License-Identifier: Apache-2.0
// paths/plan/plan_shares.cpp — division of a plan among its hosts.
#include "paths/plan/plan_shares.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/errors.hpp"

namespace paths {
namespace {

/// Numbers of releases that pass a stage. `threads` counts the releases of paths that begin at a
/// thread. `background` counts the releases of paths whose first wrapper starts the operations.
struct Flow {
  std::uint64_t threads = 0;
  std::uint64_t background = 0;
  std::uint32_t path = 0;  // some path through the stage
};

// Counts the releases that will pass each host. Above a join, one release per thread passes a
// stage. Below the join, one release passes for all threads together.
void expect_releases(const Plan& plan, const PlanKinds& kinds,
                     std::vector<Plan::HostPlan>& shares) {
  std::vector<Flow> flows(plan.stages.size());
  // For each stage: number of stages directly above it whose releases are not counted yet.
  std::vector<std::uint32_t> missing(plan.stages.size(), 0);
  for (const auto& stage : plan.stages)
    if (stage.below != no_stage) ++missing[stage.below];
  for (std::uint32_t number = 0; number < plan.paths.size(); ++number) {
    const auto& path = plan.paths[number];
    flows[path.stage].path = number;
    (path.threads == 0 ? flows[path.stage].background : flows[path.stage].threads) +=
        path.threads == 0 ? 1 : path.threads;
    shares[path.host].thread_releases += path.threads;
  }
  std::vector<StageId> ready;
  for (StageId id = 0; id < plan.stages.size(); ++id)
    if (missing[id] == 0) ready.push_back(id);
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const StageId id = ready[next];
    const StageId below = plan.stages[id].below;
    if (below == no_stage) continue;
    Flow flow = flows[id];
    if (kinds.of_wrapper[plan.stages[id].wrapper]->joins() && flow.threads > 0) flow.threads = 1;
    flows[below].threads += flow.threads;
    flows[below].background += flow.background;
    flows[below].path = flow.path;
    const std::uint32_t host = plan.host_of(below);
    if (host != plan.host_of(id)) {
      shares[host].thread_releases += flow.threads;
      shares[host].background_releases += flow.background;
      shares[host].entrances.push_back({plan.host_of(id), below, plan.stages[id].slot,
                                        static_cast<std::uint32_t>(flow.threads + flow.background),
                                        flow.path});
    }
    if (--missing[below] == 0) ready.push_back(below);
  }
  ENSURE_EQ(ready.size(), plan.stages.size());  // all stages are done, as they form no cycle
}

/// Numbers the graphs in the order of the paths. Keeps the declared data of each graph.
void number_graphs(Plan& plan) {
  std::unordered_map<std::string, Plan::PlanGraph> declared;
  for (Plan::PlanGraph& graph : plan.graphs) declared.emplace(graph.name, std::move(graph));
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  plan.graphs.clear();
  for (auto& path : plan.paths) {
    if (!plan.graphs.empty() && plan.graphs.back().name == path.graph) {
      path.graph_number = static_cast<std::uint32_t>(plan.graphs.size() - 1);
      plan.graphs.back().threads += path.threads;
      continue;
    }
    const auto [known, is_new] =
        numbers.emplace(path.graph, static_cast<std::uint32_t>(numbers.size()));
    path.graph_number = known->second;
    if (is_new) {
      const auto found = declared.find(path.graph);
      Plan::PlanGraph& graph = plan.graphs.emplace_back();
      if (found != declared.end()) graph = std::move(found->second);
      graph.name = path.graph;
      graph.threads = 0;
    }
    plan.graphs[path.graph_number].threads += path.threads;
  }
}

}  // namespace

void share_plan(Plan& plan, const PlanKinds& kinds) {
  std::vector<Plan::HostPlan> shares(plan.hosts.size());
  for (std::uint32_t i = 0; i < plan.elements.size(); ++i)
    shares[plan.elements[i].host].elements.push_back(i);
  for (std::uint32_t i = 0; i < plan.wrappers.size(); ++i)
    shares[plan.wrappers[i].host].wrappers.push_back(i);
  for (StageId id = 0; id < plan.stages.size(); ++id) shares[plan.host_of(id)].stages.push_back(id);
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path)
    shares[plan.paths[path].host].paths.push_back(path);
  expect_releases(plan, kinds, shares);
  plan.shares = std::move(shares);
  number_graphs(plan);
}

}  // namespace paths
