// SPDX-License-Identifier: Apache-2.0
// commands/expand.cpp — `paths expand`: expansion of a config to its low level.
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "commands/commands.hpp"
#include "paths/plan/print_plan.hpp"
#include "wrappers/all.hpp"

namespace commands {

void add_expand_command(CLI::App& app, int& exit_code) {
  struct Options {
    std::string file;
    paths::Overrides overrides;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("expand", "Expand a config to the hosts, wrappers and paths that run");
  command->add_option("FILE", options->file, "a config of either level")->required();
  add_override_options(*command, options->overrides);
  set_examples(*command,
               "  paths expand configs/two-clusters.yaml\n"
               "  paths expand configs/two-clusters.yaml --algorithm magpie >magpie.yaml\n"
               "  paths run magpie.yaml -- noise_allreduce\n");
  command->callback([options, &exit_code] {
    const paths::WrapperKinds& kinds = wrappers::all_kinds();
    paths::print_plan(paths::load_plan(options->file, kinds, options->overrides), kinds,
                      [](std::string_view piece) { std::cout << piece; });
    exit_code = succeeded;
  });
}

}  // namespace commands
