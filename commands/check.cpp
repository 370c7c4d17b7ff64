// SPDX-License-Identifier: Apache-2.0
// commands/check.cpp — `paths check`: validation of configs.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/say.hpp"
#include "commands/commands.hpp"
#include "commands/verify_schedules.hpp"
#include "wrappers/all.hpp"

namespace commands {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  paths::Overrides overrides;
};

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Checks all files, also if one of them has mistakes. Returns the exit code.
int check(const CheckOptions& options) {
  int exit_code = succeeded;
  for (const std::string& file : options.files) {
    try {
      const paths::Plan plan = paths::load_plan(file, wrappers::all_kinds(), options.overrides);
      std::cout << fmt::format("{}: ok, {}, {}, {}\n", file, counted(plan.hosts.size(), "host"),
                               counted(plan.thread_count(), "thread"), plan.digest.text());
      for (const std::string& wrong : wrong_schedules(plan)) {
        base::say(fmt::format("{}: {}\n", file, wrong));
        exit_code = std::max<int>(exit_code, failed);
      }
    } catch (const base::ConfigError& error) {
      std::cout.flush();
      base::say(fmt::format("{}\n", error.what()));
      exit_code = wrong_usage;
    }
  }
  return exit_code;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Check configs, and print every mistake");
  command->add_option("FILE", options->files, "configs of either level")->required();
  add_override_options(*command, options->overrides);
  set_examples(*command,
               "  paths check configs/*.yaml\n"
               "  paths check configs/two-clusters.yaml --algorithm conditional\n");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace commands
