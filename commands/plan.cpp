// SPDX-License-Identifier: Apache-2.0
// commands/plan.cpp — `paths plan`: planning of an allgather on a config's links.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "collectives/planner/min3_plus.hpp"
#include "collectives/planner/schedule_file.hpp"
#include "commands/commands.hpp"
#include "commands/output_file.hpp"
#include "commands/schedule_request.hpp"
#include "groups/selection/network_of.hpp"
#include "groups/selection/selection.hpp"

namespace commands {
namespace {

constexpr base::Nanos overhead = std::chrono::microseconds(50);  // per message; default of planners

struct PlanOptions {
  ScheduleOptions schedule;
  bool has_pools = false;
  std::string file;  ///< output file for the fastest plan; "" = none
};

void print_pools(const Participants& all) {
  const planning::PairCosts costs = planning::PairCosts::of(*all.network, overhead);
  std::cout << fmt::format("Declared pools, the default:\n{}\nPools by bandwidth:\n{}",
                           planning::lines(planning::declared_pools(costs), all.hosts),
                           planning::lines(planning::pools_by_bandwidth(costs), all.hosts));
}

/// The schedules that the command compares: algorithms of the library and of papers, and the
/// fastest plan of Min³+.
struct Comparison {
  std::vector<planning::Contender> contenders;  ///< fastest first
  std::size_t tried = 0;                        ///< number of plans of Min³+ that were compared
  std::string group_choice;                     ///< name of the schedule that a group selects
};

Comparison compared(const ScheduleRequest& request) {
  const pricing::Network& network = *request.participants.network;
  const collectives::Counts& counts = request.task.counts;
  const paths::Plan& plan = *request.participants.plan;
  groups::Call call;
  call.collective = request.task.collective;
  const groups::Selection selected =
      *groups::Selector(plan, groups::participants_of(plan))
           .answer(groups::key_of(call, request.task, request.element_bytes));
  std::vector<planning::Contender> plus =
      planning::min3_plus(network, counts, request.element_bytes, overhead);
  planning::compare(plus, network, counts, request.element_bytes);
  Comparison all{planning::rivals_of(network, counts, request.element_bytes, overhead), plus.size(),
                 selected.text()};
  const auto is_same = [&](planning::Contender& rival) {
    return rival.algorithm.name == selected.algorithm->name &&
           rival.parameters.text() == selected.parameters.text();
  };
  const auto rival = std::find_if(all.contenders.begin(), all.contenders.end(), is_same);
  if (rival != all.contenders.end())
    rival->name = all.group_choice;
  else
    all.contenders.push_back({.name = all.group_choice,
                              .algorithm = *selected.algorithm,
                              .parameters = selected.parameters,
                              .execution = planning::one_port(overhead)});
  all.contenders.insert(all.contenders.begin(), std::move(plus.front()));
  planning::compare(all.contenders, network, counts, request.element_bytes);
  return all;
}

void print_rows(const ScheduleRequest& request, const Comparison& all, base::Nanos bound) {
  std::cout << fmt::format("{:>14}  {:>5}  {:>14}  schedule\n", "price", "ratio", "predicted");
  for (const planning::Contender& one : all.contenders) {
    const bool is_best = &one == &all.contenders.front();
    const bool is_plus = one.name.starts_with("min3_plus");
    const std::string reason = fmt::format(
        "{}{}{}", one.name == all.group_choice ? "  <- what a group takes by itself" : "",
        is_best ? "  <- taken: the fastest" : "",
        is_plus ? fmt::format("{} {} such plans", is_best ? " of all, and of" : "  the fastest of",
                              all.tried)
                : "");
    std::cout << fmt::format(
        "{:>14}  {:>5}  {:>14}  {}{}\n", milliseconds(one.time), ratio_text(one.time, bound),
        one.plan ? milliseconds(one.plan->time()) : "",
        one.plan ? one.name : schedule_text(one.algorithm, request.task, one.parameters), reason);
  }
}

void write_schedule(const ScheduleRequest& request, const planning::Contender& contender,
                    const PlanOptions& options) {
  const std::string text = fmt::format(
      "# {}, between the hosts of {}: {}.\n# `--schedule file:FILE` of collective, or "
      "groups::by(\"file:FILE\", ...) in a program, runs it.\n{}",
      request.task_text(), options.schedule.file, milliseconds(contender.time),
      planning::print(contender,
                      {request.participants.hosts, request.task.counts, request.element_bytes}));
  base::write_file(options.file, text);
  std::cout << fmt::format("\nWritten to {}: {}\n", options.file, contender.name);
}

int plan(const PlanOptions& options) {
  const bool has_size = !options.schedule.size.empty();
  if (!options.file.empty()) check_output(options.file);
  const ScheduleRequest request =
      read_request(options.schedule, {.size = !options.has_pools || !options.file.empty()});
  if (request.task.collective != collectives::Collective::allgather) {
    base::Mistakes mistakes;
    add_mistake(
        mistakes,
        fmt::format(
            "--collective: expected allgather, the only collective with planners, found '{}'",
            name_of(request.task.collective)));
    mistakes.throw_if_any();
  }
  if (options.has_pools) print_pools(request.participants);
  if (!has_size) return succeeded;
  if (options.has_pools) std::cout << '\n';
  const base::Nanos bound = print_task(request);
  const Comparison all = compared(request);
  print_rows(request, all, bound);
  if (!options.file.empty()) write_schedule(request, all.contenders.front(), options);
  return succeeded;
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlanOptions>();
  options->schedule.collective = "allgather";
  CLI::App* command = app.add_subcommand(
      "plan", "Plan an allgather for a config's links, and compare it with the algorithms");
  command->add_option("FILE", options->schedule.file, "a config of either level")->required();
  add_task_options(*command, options->schedule);
  command->add_flag("--pools", options->has_pools,
                    "print which hosts are near each other, and why;\nneeds no --size");
  command
      ->add_option("-o,--output", options->file,
                   "write the fastest schedule to this file, for\n`--schedule file:FILE`")
      ->type_name("FILE");
  set_examples(*command,
               "  paths plan configs/three-sites.yaml --collective allgather --size 256KiB\n"
               "  paths plan configs/three-sites.yaml --pools\n");
  command->callback([options, &exit_code] { exit_code = plan(*options); });
}

}  // namespace commands
