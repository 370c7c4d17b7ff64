// SPDX-License-Identifier: Apache-2.0
// commands/algorithms.cpp — `paths algorithms`: what schedules of collectives there are.
#include <iostream>

#include "collectives/algorithms/reference.hpp"
#include "commands/commands.hpp"

namespace commands {

void add_algorithms_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "algorithms", "Describe the algorithms of collectives, their parameters and orders of sums");
  set_examples(*command, "  paths algorithms\n");
  command->callback([&exit_code] {
    std::cout << collectives::algorithm_reference();
    exit_code = succeeded;
  });
}

}  // namespace commands
