// SPDX-License-Identifier: Apache-2.0
// paths/command_line.cpp — near matches for misspelt options and commands.
#include "paths/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

#include "base/near_match.hpp"

namespace paths {
namespace {

constexpr int wrong_usage = 2;

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
    for (const std::string& name : option->get_lnames()) words.push_back(name);
  for (const CLI::App* command : app.get_subcommands({})) {
    if (chosen.empty()) words.push_back(command->get_name());
  }
  const std::vector<std::string_view> known(words.begin(), words.end());
  for (int place = 1; place < argc; ++place) {
    std::string_view word = argv[place];
    if (word == "--") break;
    const bool is_option = word.starts_with("--");
    if (!is_option && !chosen.empty()) continue;
    word = word.substr(is_option ? 2 : 0, word.find('=') - (is_option ? 2 : 0));
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    if (const auto near = base::near_match(word, known))
      return fmt::format("; did you mean '{}{}'?", is_option ? "--" : "", *near);
  }
  return "";
}

}  // namespace

int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc,
                 const char* const* argv) {
  if (error.get_exit_code() == 0) return app.exit(error);
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

void set_examples(CLI::App& app, const std::string& examples) {
  app.footer("\nExamples:\n" + examples);
}

}  // namespace paths
