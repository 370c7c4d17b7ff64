// SPDX-License-Identifier: Apache-2.0
// wrappers/main.cpp — main() of programs with all kinds of wrapper.
#include "wrappers/main.hpp"

#include <filesystem>
#include <utility>

#include "wrappers/all.hpp"

namespace paths {

int main(int argc, char** argv, const Program& program) {
  return run_program(argc, argv, wrappers::all_kinds(), program);
}

int main(int argc, char** argv, std::function<void(Thread&)> thread) {
  Program program;
  program.name = std::filesystem::path(argc > 0 ? argv[0] : "program").filename();
  program.help = "A program over paths.";
  program.thread = std::move(thread);
  return main(argc, argv, program);
}

}  // namespace paths
