// SPDX-License-Identifier: Apache-2.0
// commands/command_line.cpp — the command line of `paths`: common options, errors, exit codes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "commands/commands.hpp"
#include "commands/version.hpp"
#include "paths/config/algorithm.hpp"

namespace commands {
void add_override_options(CLI::App& command, paths::Overrides& overrides) {
  const auto transports = base::transport_words();
  const std::string group = "Override the config";
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
  command
      .add_option("--port", overrides.port,
                  "port of the first host; the others take the next ports")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535))
      ->group(group);
  command
      .add_option("--transport", overrides.transport,
                  fmt::format("transport between hosts: {}", fmt::join(transports, " or ")))
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>(transports.begin(), transports.end())))
      ->group(group);
  command
      .add_option("--stack", overrides.stack,
                  "stack size per thread (default: 8MiB; 256KiB above 30,000 threads)")
      ->type_name("SIZE")
      ->group(group);
}

void add_run_key_option(CLI::App& command, std::string& file) {
  command
      .add_option("--run-key", file,
                  "file with the key of the run, if other machines start some of its hosts")
      ->type_name("FILE");
}

namespace {

/// Returns the command that `words` name. The first word names a subcommand of `app`, and each
/// further word names a subcommand of the command before it.
const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    std::vector<std::string_view> known;
    const CLI::App* found = nullptr;
    for (const CLI::App* one : command->get_subcommands({})) {
      if (one->get_group().empty()) continue;  // hidden command, which only `paths` itself uses
      known.emplace_back(one->get_name());
      if (one->get_name() == word) found = one;
    }
    if (found == nullptr && known.empty())
      throw std::invalid_argument(
          fmt::format("help: {} has no commands, found '{}'", command->get_name(), word));
    if (found == nullptr) throw std::invalid_argument("help: " + base::not_one_of(word, known));
    command = found;
  }
  return *command;
}

void add_help_command(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Show the help of a command, as --help does");
  command->add_option("COMMAND", *words, "one of these, or none for all of them");
  set_examples(*command, "  paths help run\n  paths help schedule print\n");
  command->callback([&app, words, &exit_code] {
    const CLI::App& asked = command_of(app, *words);
    std::string before;
    for (const CLI::App* one = asked.get_parent(); one != nullptr; one = one->get_parent())
      before = one->get_name() + (before.empty() ? "" : " ") + before;
    std::cout << asked.get_formatter()->make_help(
        &asked, (before.empty() ? "" : before + " ") + asked.get_name(),
        CLI::AppFormatMode::Normal);
    exit_code = succeeded;
  });
}

}  // namespace

int run_program(int argc, const char* const* argv, std::string_view commit) {
  CLI::App app(
      "Declares, checks, draws and runs the communication structure of programs that\n"
      "share tuples between threads, hosts and clusters.",
      "paths");
  app.set_version_flag("--version", version_text(commit));
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
  add_keygen_command(app, exit_code);
  add_measure_command(app, exit_code);
  add_tune_command(app, exit_code);
  add_analyze_command(app, exit_code);
  add_kinds_command(app, exit_code);
  add_describe_command(app, exit_code);
  add_algorithms_command(app, exit_code);
  add_schedule_command(app, exit_code);
  add_explain_command(app, exit_code);
  add_plan_command(app, exit_code);
  add_space_command(app, exit_code);
  add_help_command(app, exit_code);
  return paths::run_main(app, argc, argv, [&] { return exit_code; });
}

}  // namespace commands
