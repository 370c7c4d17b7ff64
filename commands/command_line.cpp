// SPDX-License-Identifier: Apache-2.0
// commands/command_line.cpp — the command line of `paths`: common options, errors, exit codes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/version.hpp"
#include "commands/commands.hpp"
#include "paths/config/algorithm.hpp"

namespace commands {
void add_override_options(CLI::App& command, paths::Overrides& overrides) {
  const auto& transports = paths::Plan::transport_words;
  const std::string group = "Instead of what the config says";
  command.add_option("--algorithm", overrides.algorithm, paths::algorithm_help())
      ->type_name("NAME")
      ->group(group);
  command.add_option("--root", overrides.root, "root of every collective's tree")
      ->type_name("CLUSTER/HOST")
      ->group(group);
  command
      .add_flag_callback(
          "--instrument", [&overrides] { overrides.instrument = true; },
          "put event collectors around every wrapper")
      ->group(group);
  command.add_option("--port", overrides.port, "port of the first host; the others count on")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535))
      ->group(group);
  command
      .add_option("--transport", overrides.transport,
                  fmt::format("{}", fmt::join(transports, " or ")))
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>(transports.begin(), transports.end())))
      ->group(group);
  command.add_option("--stack", overrides.stack, "of a thread")->type_name("SIZE")->group(group);
}

int run_program(int argc, const char* const* argv) {
  CLI::App app(
      "Declares, checks, draws and runs the communication structure of programs that\n"
      "share tuples between threads, hosts and clusters.",
      "paths");
  app.set_version_flag("--version", fmt::format("paths {}", base::version));
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  set_examples(app,
               "  paths check configs/two-clusters.yaml\n"
               "  paths show configs/two-clusters.yaml\n"
               "  paths run configs/two-clusters.yaml -- noise_allreduce --iterations 100\n"
               "\nExit codes: 0 succeeded, 1 failed, 2 wrong usage or config.");
  int exit_code = succeeded;
  add_check_command(app, exit_code);
  add_show_command(app, exit_code);
  add_expand_command(app, exit_code);
  add_run_command(app, exit_code);
  add_switch_command(app, exit_code);
  add_measure_command(app, exit_code);
  add_analyze_command(app, exit_code);
  add_kinds_command(app, exit_code);
  add_algorithms_command(app, exit_code);
  add_schedule_command(app, exit_code);
  add_explain_command(app, exit_code);
  add_plan_command(app, exit_code);
  add_space_command(app, exit_code);
  return paths::run_main(app, argc, argv, [&] { return exit_code; });
}

}  // namespace commands
