// SPDX-License-Identifier: Apache-2.0
// tests/commands/command_outcome.cpp — capture of output streams, and split of command lines into
// words.
#include "tests/commands/command_outcome.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>

#include "commands/commands.hpp"
#include "tests/support/golden.hpp"

namespace command_test {
namespace {

std::vector<std::string> words_of(const std::string& command_line) {
  std::istringstream words(command_line);
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

Outcome run(const std::vector<std::string>& arguments) {
  std::vector<const char*> words = {"paths"};
  for (const std::string& word : arguments) words.push_back(word.c_str());
  std::ostringstream out, err;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(PATHS_SOURCE_DIR);
  auto* const old_out = std::cout.rdbuf(out.rdbuf());
  auto* const old_err = std::cerr.rdbuf(err.rdbuf());
  const int exit_code = commands::run_program(static_cast<int>(words.size()), words.data());
  std::cout.rdbuf(old_out);
  std::cerr.rdbuf(old_err);
  std::filesystem::current_path(before);
  return {exit_code, out.str(), err.str()};
}

Outcome run_line(const std::string& command_line) { return run(words_of(command_line)); }

void check_golden(const std::string& name, const std::vector<std::string>& arguments,
                  int exit_code) {
  INFO(name);
  const Outcome outcome = run(arguments);
  CHECK(outcome.exit_code == exit_code);
  const std::string found = outcome.text();
  CHECK(found == test_support::golden("command_line/" + name + ".txt", found));
}

void check_golden_line(const std::string& name, const std::string& command_line, int exit_code) {
  check_golden(name, words_of(command_line), exit_code);
}

}  // namespace command_test
