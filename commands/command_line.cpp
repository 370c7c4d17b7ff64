// SPDX-License-Identifier: Apache-2.0
// commands/command_line.cpp — the command line of `paths`: common options, errors, exit codes.
#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "base/version.hpp"
#include "commands/commands.hpp"

namespace commands {
namespace {

/// The command that was being parsed, for "Try 'paths show --help'".
std::string command_name(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + chosen.front()->get_name();
}

/// What a misspelt command or option probably meant.
std::string hint(const CLI::App& app, int argc, const char* const* argv) {
  const auto chosen = app.get_subcommands();
  const CLI::App& current = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> words;
  for (const CLI::Option* option : current.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  for (const CLI::App* command : app.get_subcommands({})) {
    if (chosen.empty()) words.push_back(command->get_name());
  }
  const std::vector<std::string_view> known(words.begin(), words.end());
  for (int place = 1; place < argc; ++place) {
    const std::string_view word =
        std::string_view(argv[place]).substr(0, std::string_view(argv[place]).find('='));
    if (word == "--") break;
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    if (chosen.empty() || word.starts_with("--"))
      if (const auto near = base::near_match(word, known))
        return fmt::format("; did you mean '{}'?", *near);
  }
  return "";
}

int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc,
                 const char* const* argv) {
  std::string message = error.what();
  if (message == "A subcommand is required") {
    std::vector<std::string_view> names;
    for (const CLI::App* command : app.get_subcommands({})) names.emplace_back(command->get_name());
    message = fmt::format("expected a command: {}", base::either_of(names));
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  std::cerr << fmt::format("{}: {}{}\nTry '{} --help' for more information.\n", app.get_name(),
                           message, hint(app, argc, argv), command_name(app));
  return wrong_usage;
}

}  // namespace

void set_examples(CLI::App& command, const std::string& examples) {
  command.footer("\nExamples:\n" + examples);
}

void add_override_options(CLI::App& command, paths::Overrides& overrides) {
  const std::string group = "Instead of what the config says";
  command
      .add_option("--algorithm", overrides.algorithm,
                  "of every allreduce: sequential, magpie or conditional")
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
  command.add_option("--transport", overrides.transport, "tcp or ipc")
      ->type_name("NAME")
      ->check(CLI::IsMember({"tcp", "ipc"}))
      ->group(group);
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
  add_kinds_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return report_usage(app, error, argc, argv);
  } catch (const base::ConfigError& error) {
    std::cerr << error.what() << '\n';
    return wrong_usage;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return failed;
  }
  std::cout.flush();
  if (!std::cout) {
    std::cerr << app.get_name() << ": standard output could not be written\n";
    return failed;
  }
  return exit_code;
}

}  // namespace commands
