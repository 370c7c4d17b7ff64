// SPDX-License-Identifier: Apache-2.0
// tests/bench/sor_golden.cpp — output of the solver for valid and invalid command lines.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

void check_golden(const std::string& name, const std::string& command_line) {
  INFO(name);
  const std::string found = test_support::golden_text(command_line);
  CHECK(found == test_support::golden("sor/" + name + ".txt", found));
}

const std::string two_clusters = "sor --config configs/sor-two-clusters.yaml --clock virtual ";

}  // namespace

TEST_CASE("sor command line: invalid options exit with 2 and print the reason") {
  check_golden("misspelt_data", two_clusters + "--data frotsy");
  check_golden("halo_too_deep", two_clusters + "--size 60 --halo 8");
  check_golden("no_exchange", "sor --config configs/two-clusters.yaml --clock virtual");
  check_golden("alone_without_rows", "sor_alone --size 10 --blocks 9");
  check_golden("alone_without_blocks", "sor_alone --size 10 --blocks 0");
  check_golden("alone_without_end", "sor_alone --size 10 --epsilon 0");
  check_golden("alone_unwritable", "sor_alone --size 10 --raw /nowhere/raw");
}

TEST_CASE(
    "sor command line: the help and the tables of runs with declared costs match the golden "
    "files") {
  check_golden("help", "sor --help");
  check_golden("alone_help", "sor_alone --help");
  check_golden("plain", two_clusters + "--size 130 --check");
  check_golden("hidden", two_clusters +
                             "--size 130 --cost-per-row 50us --halo hidden --check "
                             "--algorithm conditional");
}
#endif
