// SPDX-License-Identifier: Apache-2.0
// tests/bench/sor_golden.cpp — what the solver says to right and wrong command lines.
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "tests/support/golden.hpp"

#if PATHS_HAS_BENCH
namespace {

/// Runs a program from the top of the sources; both its outputs, and its exit code.
std::string outcome(const std::string& command_line) {
  const std::string command = "cd " PATHS_SOURCE_DIR " && env -u PATHS_CONFIG -u PATHS_HOST " +
                              std::string(PATHS_BUILD_BIN_DIR) + "/" + command_line +
                              " 2>&1; echo \"exit code $?\"";
  std::string text;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 4096> buffer{};
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), read);
  return text;
}

void check_golden(const std::string& name, const std::string& command_line) {
  INFO(name);
  const std::string found = outcome(command_line);
  CHECK(found == test_support::golden("sor/" + name + ".txt", found));
}

const std::string two_clusters = "sor --config configs/sor-two-clusters.yaml --clock virtual ";

}  // namespace

TEST_CASE("sor command line: wrong ones exit with 2 and say why") {
  check_golden("misspelt_data", two_clusters + "--data frotsy");
  check_golden("halo_too_deep", two_clusters + "--size 60 --halo 8");
  check_golden("no_exchange", "sor --config configs/two-clusters.yaml --clock virtual");
  check_golden("alone_without_rows", "sor_alone --size 10 --blocks 9");
}

TEST_CASE("sor command line: help, and the tables of runs whose costs are declared") {
  check_golden("help", "sor --help");
  check_golden("alone_help", "sor_alone --help");
  check_golden("plain", two_clusters + "--size 130 --check");
  check_golden("hidden", two_clusters +
                             "--size 130 --cost-per-row 50us --halo hidden --check "
                             "--algorithm conditional");
}
#endif
