// SPDX-License-Identifier: Apache-2.0
// commands/main.cpp — main() of the program `paths`.
#include "commands/commands.hpp"
#include "commands/version.hpp"

int main(int argc, char** argv) {
  return commands::run_program(argc, argv, commands::commit_built);
}
