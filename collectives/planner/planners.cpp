// SPDX-License-Identifier: Apache-2.0
// collectives/planner/planners.cpp — names, parameters and plans of all planners.
#include "collectives/planner/planners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "collectives/algorithms/reference.hpp"
#include "collectives/planner/merged_trees.hpp"
#include "collectives/planner/min3_plus.hpp"

namespace planning {
namespace {

using collectives::Parameter;
using collectives::Parameters;

Parameter pools_parameter(const std::string& fallback, std::vector<std::string> words) {
  return {.name = "pools",
          .help = "Whether hosts are near each other by declaration or by bandwidth.",
          .fallback = fallback,
          .words = std::move(words)};
}

Parameter ports_parameter() {
  return {.name = "ports",
          .help = "Whether a host sends and receives at once: full duplex, or half.",
          .fallback = "full",
          .words = {"full", "half"}};
}

Parameter number(std::string name, std::string help, std::string fallback, std::uint64_t least,
                 std::uint64_t most) {
  return {.name = std::move(name),
          .help = std::move(help),
          .fallback = std::move(fallback),
          .least = least,
          .most = most};
}

Parameter segments_parameter() {
  return number("segments", "Pieces that a block travels in.", "1", 1, 1 << 10);
}

/// Adds the parameters that all planners have.
void add_common(std::vector<Parameter>& parameters) {
  parameters.push_back(
      number("streams", "Greatest number of streams that a message uses.", "1", 1, 1 << 10));
  parameters.push_back(
      number("overhead_ns",
             "Time that a message holds its sender's port in addition to the time to leave.",
             "50000", 0, 1'000'000'000));
}

Nanos overhead_of(const Parameters& parameters) {
  return Nanos(static_cast<Nanos::rep>(parameters.number("overhead_ns")));
}

Pool pools_of(const PairCosts& costs, const Parameters& parameters) {
  return parameters.word("pools") == "declared" ? declared_pools(costs) : pools_by_bandwidth(costs);
}

/// Returns the execution that the parameters of a planner describe. Each host has one port per
/// direction. With half duplex, it has one port for both directions.
pricing::Execution execution_of(const Parameters& parameters) {
  pricing::Execution execution = one_port_in_order(overhead_of(parameters));
  execution.ports.is_half_duplex = parameters.word("ports") == "half";
  return execution;
}

std::vector<Contender> min3_plans(const Question& question, const Parameters& parameters) {
  const PairCosts costs = PairCosts::of(question.network, overhead_of(parameters));
  const PortModel model{.is_half_duplex = parameters.word("ports") == "half"};
  const auto pieces =
      pieces_of(question.counts, question.element_bytes, parameters.number("segments"));
  return {contender_of(min3(pools_of(costs, parameters), costs, question.counts, pieces, model),
                       "min3", execution_of(parameters))};
}

std::vector<Contender> min3_plus_plans(const Question& question, const Parameters& parameters) {
  const Min3PlusLimits limits{.pools = parameters.word("pools"),
                              .segments = parameters.number("segments"),
                              .at_once = parameters.number("at_once")};
  return min3_plus(question.network, question.counts, question.element_bytes,
                   overhead_of(parameters), limits);
}

Planner planner_of_trees(std::string name, std::string help, MakeTree tree) {
  Planner planner{.name = name, .help = std::move(help), .parameters = {}, .plans = {}};
  planner.parameters = {{.name = "merging",
                         .help = "Trees one after the other, or always the edge that ends first.",
                         .fallback = "by_end",
                         .words = {"by_end", "in_turn"}},
                        ports_parameter(),
                        segments_parameter()};
  planner.plans = [name, tree](const Question& question, const Parameters& parameters) {
    const PairCosts costs = PairCosts::of(question.network, overhead_of(parameters));
    const bool is_in_turn = parameters.word("merging") == "in_turn";
    const PortModel model{.is_half_duplex = parameters.word("ports") == "half"};
    pricing::Execution execution = execution_of(parameters);
    if (is_in_turn && !model.is_half_duplex) {  // in_turn assumes unlimited receiving ports
      execution.ports.receiving = 0;
      execution.ports.are_in_order = false;
    }
    return std::vector{contender_of(
        merged_trees(
            tree, is_in_turn ? Merging::in_turn : Merging::by_end, costs, question.counts,
            pieces_of(question.counts, question.element_bytes, parameters.number("segments")),
            model),
        name, execution)};
  };
  return planner;
}

std::vector<Planner> made_planners() {
  std::vector<Planner> planners;
  planners.push_back(
      {.name = "min3",
       .help = "Pool by pool, always the transfer that ends first by ports (Gupta and Vadhiyar "
               "2007).",
       .parameters = {pools_parameter("declared", {"declared", "bandwidth"}), ports_parameter(),
                      segments_parameter()},
       .plans = min3_plans});
  planners.push_back(
      {.name = "min3_plus",
       .help = "The fastest of many plans with ports apart, segments and the streams of paths.",
       .parameters = {pools_parameter("any", {"any", "declared", "bandwidth"}),
                      number("segments",
                             "Pieces that the largest block travels in; 0 = the fastest number.",
                             "0", 0, 1 << 10),
                      number("at_once",
                             "Messages that a host receives from other clusters at once; 0 = the "
                             "fastest number.",
                             "0", 0, 1 << 10)},
       .plans = min3_plus_plans});
  planners.push_back(planner_of_trees(
      "mateescu", "Trees of shortest paths with busy senders, merged (Mateescu 2005).",
      mateescu_tree));
  planners.push_back(planner_of_trees(
      "clustered_sa",
      "Annealed trees over clusters, merged (ClusteredSA, Gupta and Vadhiyar 2006, rebuilt).",
      clustered_tree));
  for (Planner& planner : planners) add_common(planner.parameters);
  return planners;
}

}  // namespace

collectives::Parameters Planner::read(const std::string& text) const {
  collectives::Algorithm described;
  described.name = name;
  described.parameters = parameters;
  return described.read(text);
}

const std::vector<Planner>& all_planners() {
  static const std::vector<Planner> planners = made_planners();
  return planners;
}

const Planner* planner_named(std::string_view name) {
  const std::vector<Planner>& all = all_planners();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Planner& planner) { return planner.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string planner_reference() {
  std::string text;
  for (const Planner& planner : all_planners())
    text += fmt::format("## {}\n\n{}\n\n{}", planner.name, planner.help,
                        collectives::parameter_table(planner.parameters));
  return text;
}

Contender plan(const Planner& planner, const collectives::Parameters& parameters,
               const collectives::CollectiveSpec& task, Bytes element_bytes,
               const pricing::Network& network) {
  if (task.collective != collectives::Collective::allgather)
    throw std::invalid_argument(
        fmt::format("{} plans allgathers, and that is {}", planner.name, name_of(task.collective)));
  if (task.counts.blocks() != network.topology->size())
    throw std::invalid_argument(fmt::format("expected blocks of {} participants, found {}",
                                            network.topology->size(), task.counts.blocks()));
  pricing::Network striped = network;
  striped.striping = parameters.number("streams");
  std::vector<Contender> plans = planner.plans({striped, task.counts, element_bytes}, parameters);
  compare(plans, striped, task.counts, element_bytes);
  plans.front().striping = striped.striping;
  return std::move(plans.front());
}

}  // namespace planning
