// SPDX-License-Identifier: Apache-2.0
// commands/schedule.cpp — `paths schedule`: printing, export and verification of schedules.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "collectives/schedule/goal.hpp"
#include "commands/commands.hpp"
#include "commands/schedule_request.hpp"
#include "commands/verify_schedules.hpp"

namespace commands {
namespace {

void add_schedule_options(CLI::App& command, ScheduleOptions& options) {
  add_group_options(command, options);
  add_task_options(command, options);
  add_root_option(command, options);
  add_algorithm_option(command, options);
}

/// Prints the steps of one host, one portion after the other. The text of all steps can be too
/// large for the memory.
void print_program(const ScheduleRequest& request, collectives::Rank me) {
  const collectives::Program program = request.program(me);
  std::cout << fmt::format("{}:", request.participants.hosts[me]);
  const char* separator = " ";
  collectives::Steps steps;
  for (collectives::Count portion = 0; portion < program.portions(); ++portion) {
    steps.clear();
    program.append(portion, steps);
    for (std::size_t step = 0; step < steps.size(); ++step)
      std::cout << std::exchange(separator, "; ") << text(steps[step]);
  }
  std::cout << '\n';
}

int print(const ScheduleOptions& options) {
  const ScheduleRequest request = read_request(options, {.algorithm = true});
  std::cout << fmt::format("# {}, {}\n", request.task_text(), request.schedule_text());
  for (collectives::Rank me = 0; me < request.task.size(); ++me)
    if (!request.host || *request.host == me) print_program(request, me);
  return succeeded;
}

void add_print(CLI::App& parent, int& exit_code) {
  auto options = std::make_shared<ScheduleOptions>();
  CLI::App* command =
      parent.add_subcommand("print", "Print the steps of each host, a line for each host");
  add_schedule_options(*command, *options);
  command->add_option("--host", options->host, "host whose steps are printed (default: all)")
      ->type_name("HOST");
  set_examples(*command,
               "  paths schedule print --clusters 2,2 --collective broadcast --size 4B \\\n"
               "      --algorithm stretched:stretch=2\n");
  command->callback([options, &exit_code] { exit_code = print(*options); });
}

void add_export(CLI::App& parent, int& exit_code) {
  struct ExportOptions {
    ScheduleOptions schedule;
    std::string format = "goal";
  };
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = parent.add_subcommand(
      "export", "Write a schedule for another tool: goal is the format of LogGOPSim");
  add_schedule_options(*command, options->schedule);
  command->add_option("--format", options->format, "goal")
      ->type_name("NAME")
      ->check(CLI::IsMember({"goal"}))
      ->capture_default_str();
  set_examples(*command,
               "  paths schedule export configs/two-clusters.yaml --collective allreduce \\\n"
               "      --size 64KiB --algorithm recursive_doubling >doubling.goal\n");
  command->callback([options, &exit_code] {
    const ScheduleRequest request = read_request(options->schedule, {.algorithm = true});
    write_goal(std::cout, *request.algorithm, request.task, request.parameters,
               request.element_bytes);
    exit_code = succeeded;
  });
}

void add_verify(CLI::App& parent, int& exit_code) {
  auto options = std::make_shared<ScheduleOptions>();
  CLI::App* command = parent.add_subcommand(
      "verify", "Verify schedules by running them on symbolic values, with shortened vectors");
  add_schedule_options(*command, *options);
  set_examples(*command,
               "  paths schedule verify configs/two-clusters.yaml\n"
               "  paths schedule verify --clusters 4,4,3 --collective allreduce\n"
               "  paths schedule verify --clusters 4,4 --collective allreduce --size 32MiB \\\n"
               "      --algorithm stretched:exchange=two,stretch=65536\n");
  command->callback(
      [options, &exit_code] { exit_code = verify_schedules(*options) ? succeeded : failed; });
}

}  // namespace

void add_schedule_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "schedule", "Print, export and verify schedules of collectives: the steps of each host");
  command->require_subcommand(1);
  set_examples(*command,
               "  paths schedule print --clusters 2,2 --collective barrier --algorithm tree\n"
               "  paths schedule verify configs/two-clusters.yaml\n");
  add_print(*command, exit_code);
  add_export(*command, exit_code);
  add_verify(*command, exit_code);
}

}  // namespace commands
