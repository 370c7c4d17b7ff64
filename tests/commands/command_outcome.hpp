// SPDX-License-Identifier: Apache-2.0
// tests/commands/command_outcome.hpp — what `paths` says to a command line, in this process.
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

/// Runs the program from the top of the sources.
Outcome run(const std::vector<std::string>& arguments);
/// "show FILE --format svg", which has no blanks in its words.
Outcome run_line(const std::string& command_line);
/// Compares with tests/golden/command_line/NAME.txt.
void check_golden(const std::string& name, const std::vector<std::string>& arguments,
                  int exit_code);
void check_golden_line(const std::string& name, const std::string& command_line, int exit_code);

}  // namespace command_test
