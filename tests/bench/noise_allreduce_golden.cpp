// SPDX-License-Identifier: Apache-2.0
// tests/bench/noise_allreduce_golden.cpp — output of noise_allreduce for valid and invalid command
// lines.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

void check_golden(const std::string& name, const std::string& arguments) {
  INFO(name);
  const std::string found = test_support::golden_text("noise_allreduce " + arguments);
  CHECK(found == test_support::golden("noise_allreduce/" + name + ".txt", found));
}

const std::string two_clusters = "--config configs/two-clusters.yaml ";

}  // namespace

TEST_CASE(
    "noise_allreduce command line: invalid options exit with 2 and print the reason and a help "
    "hint") {
  check_golden("nothing", "");
  check_golden("misspelt_option", two_clusters + "--iteratoins 5");
  check_golden("no_iterations", two_clusters + "--iterations 0");
  check_golden("negative_warmup", two_clusters + "--warmup -1");
  check_golden("misspelt_host", two_clusters + "--host alpah-0");
  check_golden("host_on_virtual_clock", two_clusters + "--clock virtual --host alpha-0");
  check_golden("misspelt_compute", two_clusters + "--compute spinn");
  check_golden("spin_on_virtual_clock", two_clusters + "--clock virtual --compute spin");
  check_golden("no_unit", two_clusters + "--compute-time 30");
  check_golden("noise_as_long_as_its_period", two_clusters + "--noise alpha-0/0=2ms/2ms");
  check_golden("noise_longer_than_its_period", two_clusters + "--noise alpha-0/0=2ms/1ms");
  check_golden("noise_of_no_duration", two_clusters + "--noise alpha-0/0=0ms@1s");
  check_golden("no_values", two_clusters + "--clock virtual --values no_such_file");
  check_golden("unwritable_json", two_clusters + "--clock virtual --json /nowhere/out.json");
}

TEST_CASE(
    "noise_allreduce command line: the help and the table of a virtual run match the golden "
    "files") {
  check_golden("help", "--help");
  check_golden("table", two_clusters + "--clock virtual --iterations 20 --algorithm conditional");
}
#endif
