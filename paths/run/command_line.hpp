// SPDX-License-Identifier: Apache-2.0
// paths/run/command_line.hpp — start, end and error messages shared by all programs.
#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace paths {

/// Exit code of a program that has failed.
inline constexpr int exit_failed = 1;
inline constexpr int exit_wrong_usage = 2;  ///< wrong command line or config

/// Runs the whole main() of a program. Reads the command line, runs `body`, and prints the message
/// of any exception. Returns the exit code that `body` returns. Returns 1 if output could not be
/// written. Returns 2 for a wrong command line, a ConfigError and a std::invalid_argument. An
/// option that lacks its value is an error. Numbers on the command line must have the form of the
/// plain numbers in base/units.hpp. The program logs to standard error.
///
/// Works also if standard streams are closed or full, or if their reader has ended. Files that are
/// opened later never get the descriptor numbers of standard streams. The loss of standard error
/// has no effect. If the reader of standard output has ended, a program that succeeded ends by
/// SIGPIPE, without a message. While `body` runs, SIGPIPE does not end the program.
int run_main(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& body);

/// Sets the examples at the end of the program's help text.
void set_examples(CLI::App& app, const std::string& examples);

}  // namespace paths
