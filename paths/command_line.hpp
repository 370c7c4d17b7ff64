// SPDX-License-Identifier: Apache-2.0
// paths/command_line.hpp — what every program says to a wrong command line.
#pragma once
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace paths {

/// Help and version to standard output, anything wrong to standard error with what was probably
/// meant and where help is. Returns the exit code: 0 or 2.
int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc,
                 const char* const* argv);

/// Shown at the end of the help.
void set_examples(CLI::App& app, const std::string& examples);

}  // namespace paths
