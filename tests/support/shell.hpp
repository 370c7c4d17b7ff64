// SPDX-License-Identifier: Apache-2.0
// tests/support/shell.hpp — execution of a command line by a shell.
#pragma once
#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "tests/support/golden.hpp"

namespace test_support {

struct Said {
  std::string text;   ///< standard output and standard error, in order of arrival
  int exit_code = 0;  ///< 128 + number of the signal if a signal killed the command
};

inline Said run_shell(const std::string& command) {
  std::FILE* const pipe = popen(fmt::format("( {} ) 2>&1", command).c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run a shell");
  Said said;
  std::array<char, 4096> buffer{};
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe))
    said.text.append(buffer.data(), read);
  const int status = pclose(pipe);
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

/// Runs a program of this project in the top directory of the sources. Returns its output and exit
/// code, as in a golden file.
inline std::string golden_text(const std::string& command_line) {
  const Said said = run_shell("cd " PATHS_SOURCE_DIR " && env -u PATHS_CONFIG -u PATHS_HOST " +
                              std::string(PATHS_BUILD_BIN_DIR) + "/" + command_line);
  return fmt::format("{}exit code {}\n", said.text, said.exit_code);
}

}  // namespace test_support
