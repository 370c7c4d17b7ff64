// SPDX-License-Identifier: Apache-2.0
// commands/algorithms.cpp — `paths algorithms`: reference of algorithms and planners.
#include <iostream>

#include "collectives/algorithms/reference.hpp"
#include "collectives/planner/planners.hpp"
#include "commands/commands.hpp"

namespace commands {

void add_algorithms_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "algorithms", "Describe algorithms and planners of collectives, and their parameters");
  set_examples(*command, "  paths algorithms\n");
  command->callback([&exit_code] {
    std::cout << collectives::algorithm_reference()
              << "# Planners\n\nFor allgathers over a network that is known.\n\n"
              << planning::planner_reference();
    exit_code = succeeded;
  });
}

}  // namespace commands
