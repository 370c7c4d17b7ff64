// SPDX-License-Identifier: Apache-2.0
// commands/commands.hpp — subcommands of the program `paths`.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "paths/config/config.hpp"
#include "paths/run/command_line.hpp"

namespace commands {

using paths::set_examples;

/// Exit codes of all commands.
enum ExitCode : int { succeeded = 0, failed = 1, wrong_usage = 2 };

/// Each of these functions adds one subcommand. When the subcommand has run, it sets `exit_code`.
/// The subcommand may throw the exceptions that paths::run_main() documents.
void add_check_command(CLI::App& app, int& exit_code);
void add_show_command(CLI::App& app, int& exit_code);
void add_expand_command(CLI::App& app, int& exit_code);
void add_run_command(CLI::App& app, int& exit_code);
void add_measure_command(CLI::App& app, int& exit_code);
void add_tune_command(CLI::App& app, int& exit_code);
void add_switch_command(CLI::App& app, int& exit_code);
void add_keygen_command(CLI::App& app, int& exit_code);
void add_analyze_command(CLI::App& app, int& exit_code);
void add_kinds_command(CLI::App& app, int& exit_code);
void add_describe_command(CLI::App& app, int& exit_code);
void add_algorithms_command(CLI::App& app, int& exit_code);
void add_schedule_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_plan_command(CLI::App& app, int& exit_code);
void add_space_command(CLI::App& app, int& exit_code);

/// Adds the options that override the config. `overrides` must outlive parsing.
void add_override_options(CLI::App& command, paths::Overrides& overrides);

/// Adds the option --run-key. Commands that start hosts or a switch have this option.
void add_run_key_option(CLI::App& command, std::string& file);

/// Options of `paths run`.
struct RunOptions {
  std::string file;
  std::string clock = "steady";
  std::string trace;
  std::string run_key;  ///< file of the run key; "" = none
  std::vector<std::string> program;
  /// Program with its arguments that runs next to each host, as a load; empty = none.
  std::vector<std::string> companion;
  paths::Overrides overrides;
};

/// For each host of the config that has an address of this machine, runs a program in a process of
/// its own. On the virtual clock, runs all hosts in one process. Returns the exit code.
/// Requires: no companion on the virtual clock.
int run_hosts(RunOptions& options);

/// Runs the program `paths`. `commit` is the commit that `--version` prints.
int run_program(int argc, const char* const* argv, std::string_view commit = "unknown");

}  // namespace commands
