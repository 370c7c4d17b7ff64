// SPDX-License-Identifier: Apache-2.0
// tests/commands/command_outcome.hpp — runs of `paths` in this process with captured output.
#pragma once
#include <string>
#include <vector>

namespace command_test {

struct Outcome {
  int exit_code;
  std::string out, err;
  std::string text() const {
    return "exit code " + std::to_string(exit_code) + "\n-- out\n" + out + "-- err\n" + err;
  }
};

/// Runs `paths` with these arguments. The working directory is the top folder of the sources.
Outcome run(const std::vector<std::string>& arguments);
/// Runs `paths` with a command line such as "show FILE --format svg". Its words must not contain
/// blanks.
Outcome run_line(const std::string& command_line);
/// Runs a command and compares its output with tests/golden/command_line/NAME.txt.
void check_golden(const std::string& name, const std::vector<std::string>& arguments,
                  int exit_code);
void check_golden_line(const std::string& name, const std::string& command_line, int exit_code);

}  // namespace command_test
