// SPDX-License-Identifier: Apache-2.0
// collectives/planner/contender.cpp — algorithms and plans that compete for an allgather, and their
// comparison.
#include "collectives/planner/contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "collectives/algorithms/all.hpp"
#include "collectives/planner/merged_trees.hpp"
#include "collectives/planner/min3.hpp"

namespace planning {
namespace {

/// Returns the default parameters of the algorithm. If the algorithm has the parameter `element`
/// (bytes of an array element), this parameter is set to `element_bytes`.
collectives::Parameters parameters_of(const collectives::Algorithm& algorithm,
                                      Bytes element_bytes) {
  collectives::Parameters parameters = algorithm.read("");
  if (parameters.has("element")) parameters.set("element", std::to_string(element_bytes));
  return parameters;
}

}  // namespace

base::Digest Contender::digest() const {
  const pricing::Ports& ports = execution.ports;
  return base::digest_of(fmt::format(
      "{}:{}\n{} {}\n{} {} {} {} {} {} {} {} {}\n{}\n{}", algorithm.name, parameters.text(),
      execution.window, execution.credit, ports.sending, ports.receiving, ports.are_apart,
      ports.receiving_across, ports.blocks, ports.cost.count(), ports.is_half_duplex,
      ports.are_in_order, ports.are_grants_carried, striping, plan ? plan->digest().text() : ""));
}

Contender contender_of(Plan plan, std::string name, const pricing::Execution& execution) {
  Contender contender{.name = std::move(name),
                      .algorithm = {},
                      .execution = execution,
                      .plan = std::make_shared<const Plan>(std::move(plan))};
  contender.algorithm =
      algorithm_of(contender.plan, contender.name, "Planned for the network that it was made for.");
  return contender;
}

pricing::Execution one_port(Nanos overhead) {
  return {.ports = {.sending = 1, .receiving = 1, .cost = overhead}};
}

pricing::Execution one_port_in_order(Nanos overhead) {
  pricing::Execution execution = one_port(overhead);
  execution.ports.are_in_order = true;
  return execution;
}

std::vector<Contender> rivals_of(const pricing::Network& network, const collectives::Counts& counts,
                                 Bytes element_bytes, Nanos overhead, bool is_half_duplex) {
  if (counts.blocks() != network.topology->size())
    throw std::invalid_argument(fmt::format("expected blocks of {} participants, found {}",
                                            network.topology->size(), counts.blocks()));
  std::vector<Contender> rivals;
  const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                         counts};
  const auto with_duplex = [&](pricing::Execution execution) {
    execution.ports.is_half_duplex = is_half_duplex;
    return execution;
  };
  for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
    if (!algorithm.does(task.collective)) continue;
    const collectives::Parameters parameters = parameters_of(algorithm, element_bytes);
    if (!algorithm.why_not(task, parameters).empty()) continue;
    rivals.push_back({.name = algorithm.name,
                      .algorithm = algorithm,
                      .parameters = parameters,
                      .execution = with_duplex(one_port(overhead))});
  }
  const PairCosts costs = PairCosts::of(network, overhead);
  const std::vector<Piece> pieces = pieces_of(counts, element_bytes);
  const PortModel model{.is_half_duplex = is_half_duplex};
  const auto add = [&](Plan plan, std::string name) {
    rivals.push_back(
        contender_of(std::move(plan), std::move(name), with_duplex(one_port_in_order(overhead))));
  };
  add(merged_trees(mateescu_tree, Merging::by_end, costs, counts, pieces, model), "mateescu");
  add(merged_trees(clustered_tree, Merging::by_end, costs, counts, pieces, model), "clustered_sa");
  add(min3(declared_pools(costs), costs, counts, pieces, model), "min3:pools=declared");
  add(min3(pools_by_bandwidth(costs), costs, counts, pieces, model), "min3:pools=bandwidth");
  return rivals;
}

void compare(std::vector<Contender>& contenders, const pricing::Network& network,
             const collectives::Counts& counts, Bytes element_bytes) {
  const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                         counts};
  for (Contender& one : contenders) {
    pricing::Network striped = network;
    if (one.striping > 0) striped.striping = one.striping;
    one.time =
        pricing::price(one.algorithm, task, one.parameters, element_bytes, striped, one.execution)
            .time;
  }
  std::stable_sort(
      contenders.begin(), contenders.end(),
      [](const Contender& left, const Contender& right) { return left.time < right.time; });
}

}  // namespace planning
