// SPDX-License-Identifier: Apache-2.0
// paths/run/command_line.hpp — how every program of ours begins, ends, and says what is wrong.
#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace paths {

/// The exit codes of a program that did not succeed.
inline constexpr int exit_failed = 1;
inline constexpr int exit_wrong_usage = 2;  ///< of the command line or the config

/// The whole main() of a program: reads the command line, runs `body`, which answers the exit code,
/// and says what either throws. Returns 1 as well when what was printed could not be written, and 2
/// for a wrong command line, a ConfigError and a std::invalid_argument. An option that is given
/// needs a word; one that is a number takes what base/units.hpp calls a plain number. The program
/// logs to standard error.
///
/// Standard streams may be closed or full, or their reader may have ended. No descriptor opened
/// later gets the number of one, and a lost standard error changes nothing. A program that has
/// succeeded ends by SIGPIPE, without a message, if the reader of its standard output has ended;
/// nothing ends by that signal earlier.
int run_main(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& body);

/// Shown at the end of the help.
void set_examples(CLI::App& app, const std::string& examples);

}  // namespace paths
