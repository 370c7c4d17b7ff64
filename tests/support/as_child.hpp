// SPDX-License-Identifier: Apache-2.0
// tests/support/as_child.hpp — child process for the part of a test case that ends its process.
#pragma once
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/shell.hpp"

namespace test_support {

inline constexpr const char* child_variable = "PATHS_TEST_CHILD";

/// Runs `part` in a child process and returns the child's output and exit code. The child runs this
/// test case again up to this call. In the child, this function never returns: if `part` returns,
/// the child exits with code 0.
template <class Part>
Said as_child(const std::string& name, const Part& part) {
  const char* const wanted = std::getenv(child_variable);
  if (wanted == nullptr) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    std::string test_case;
    for (const char letter : Catch::getResultCapture().getCurrentTestName()) {
      // A backslash before each comma: without it, Catch2 would read the name as two names of
      // cases.
      if (letter == ',') test_case += '\\';
      if (letter == '\'') test_case += "'\\'";
      test_case += letter;
    }
    return run_shell(fmt::format("{}='{}' {} '{}'", child_variable, name, program, test_case));
  }
  if (wanted != name) return {};
#if !defined(__SANITIZE_ADDRESS__)
  // Replaces the handlers of Catch2, which would print their own report.
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS}) std::signal(number, SIG_DFL);
#endif
  part();
  std::_Exit(0);
}

/// Returns the exit code of a process that `signal` ended.
inline constexpr int ended_by(int signal) { return 128 + signal; }

}  // namespace test_support
