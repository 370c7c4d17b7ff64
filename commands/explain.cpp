// SPDX-License-Identifier: Apache-2.0
// commands/explain.cpp — `paths explain`: the selected schedule of a collective, and why.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <utility>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/best.hpp"
#include "commands/commands.hpp"
#include "commands/schedule_request.hpp"
#include "groups/machine_group.hpp"

namespace commands {
namespace {

using collectives::Algorithm;
using collectives::CollectiveSpec;
using collectives::Order;
using pricing::Family;

struct ExplainOptions {
  ScheduleOptions schedule;
  std::string grouping = "canonical";
};

/// The fastest candidate of an algorithm for one order of summation.
struct Row {
  pricing::Best best;
  std::optional<Order> order;  ///< only for reductions that have operands
  bool is_allowed = true;
};

bool has_order(const CollectiveSpec& task) {
  return is_reduction(task.collective) && task.collective != collectives::Collective::barrier;
}

/// Returns a row for each algorithm and order of summation, fastest first.
std::vector<Row> rows_of(const ScheduleRequest& request, bool allows_any) {
  const CollectiveSpec& task = request.task;
  std::map<std::pair<const Algorithm*, Order>, std::vector<Family>> alike;
  for (const Family& family : pricing::families_of(task, request.element_bytes, Order::differs)) {
    std::map<Order, Family> parts;
    for (const pricing::Candidate& candidate : family)
      parts[has_order(task) ? candidate.algorithm->order(task, candidate.parameters)
                            : Order::canonical]
          .push_back(candidate);
    for (auto& [order, part] : parts)
      alike[{family.front().algorithm, order}].push_back(std::move(part));
  }
  std::vector<Row> rows;
  for (const auto& [kind, families] : alike) {
    Row row;
    row.best =
        pricing::best_among(families, task, request.element_bytes, *request.participants.network);
    if (has_order(task)) row.order = kind.second;
    row.is_allowed =
        kind.second == Order::canonical || (allows_any && kind.second < Order::differs);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& left, const Row& right) {
    return std::pair(left.best.price.time, left.order) <
           std::pair(right.best.price.time, right.order);
  });
  return rows;
}

/// Returns why a row is selected or not; "" if the row is only slower than the selected one.
std::string reason(const Row& row, bool is_taken) {
  if (is_taken) return "taken";
  if (row.is_allowed) return "";
  return *row.order == Order::differs ? "hosts disagree: only for sums that are exact"
                                      : "only with --grouping any";
}

void print_rows(const ScheduleRequest& request, const std::vector<Row>& rows, base::Nanos bound) {
  const auto taken =
      std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.is_allowed; });
  std::cout << fmt::format("{:>14}  {:>5}  {:24}  schedule\n", "price", "ratio",
                           has_order(request.task) ? "order of sums" : "");
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const pricing::Candidate& candidate = row->best.candidate;
    const std::string why = reason(*row, row == taken);
    std::cout << fmt::format(
        "{:>14}  {:>5}  {:24}  {}{}\n", milliseconds(row->best.price.time),
        ratio_text(row->best.price.time, bound), row->order ? name_of(*row->order) : "",
        schedule_text(*candidate.algorithm, request.task, candidate.parameters),
        why.empty() ? "" : "  <- " + why);
  }
  if (taken == rows.end()) std::cout << "None is taken: each adds in a different order.\n";
  const auto& machines = request.participants.machines;
  const pricing::Bytes bytes = request.bytes_of(request.task.counts.largest());
  if (machines && machines->is_one())
    std::cout << "Processes of one machine use shared memory instead, unless the config contains "
                 "`shared_memory: false`.\n";
  else if (machines && groups::MachineGroup::can_lead(request.task.collective, bytes))
    std::cout << "If the hosts of each cluster are processes of one machine, they use shared "
                 "memory, and one host of each cluster takes part in a schedule. The config can "
                 "forbid that with `shared_memory: false`.\n";
}

/// Prints the algorithms for the collective that are impossible on this topology.
void print_refused(const ScheduleRequest& request, const std::vector<Row>& rows) {
  bool has_title = false;
  for (const Algorithm& algorithm : collectives::all_algorithms()) {
    const bool is_priced = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
      return row.best.candidate.algorithm == &algorithm;
    });
    if (!algorithm.does(request.task.collective) || is_priced) continue;
    if (!std::exchange(has_title, true)) std::cout << "\nImpossible here:\n";
    std::cout << fmt::format("  {}: {}\n", algorithm.name,
                             algorithm.why_not(request.task, algorithm.read("")));
  }
}

int explain(const ExplainOptions& options) {
  const ScheduleRequest request = read_request(options.schedule, {.size = true});
  const std::vector<Row> rows = rows_of(request, options.grouping == "any");
  print_rows(request, rows, print_task(request));
  print_refused(request, rows);
  return succeeded;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "Show the predicted time of each algorithm on a config's links, and why one is taken");
  command->add_option("FILE", options->schedule.file, "a config of either level")->required();
  add_task_options(*command, options->schedule);
  add_root_option(*command, options->schedule);
  command
      ->add_option(
          "--grouping", options->grouping,
          "order of sums; canonical: the same bits as adding\nthread by thread; any: any order")
      ->type_name("NAME")
      ->check(CLI::IsMember({"canonical", "any"}))
      ->capture_default_str();
  set_examples(*command,
               "  paths explain configs/two-clusters.yaml --collective allreduce --size 1MiB\n"
               "  paths explain configs/two-clusters.yaml --collective broadcast --size 8B --root "
               "b1\n");
  command->callback([options, &exit_code] { exit_code = explain(*options); });
}

}  // namespace commands
