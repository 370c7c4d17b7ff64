// SPDX-License-Identifier: Apache-2.0
// tests/bench/noise_allreduce_golden.cpp — what the program says to right and wrong command lines.
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "tests/support/golden.hpp"

#if PATHS_HAS_BENCH
namespace {

/// Runs the program from the top of the sources; both its outputs, and its exit code.
std::string outcome(const std::string& arguments) {
  const std::string command = "cd " PATHS_SOURCE_DIR " && env -u PATHS_CONFIG -u PATHS_HOST " +
                              std::string(PATHS_BUILD_BIN_DIR) + "/noise_allreduce " + arguments +
                              " 2>&1; echo \"exit code $?\"";
  std::string text;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 4096> buffer{};
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), read);
  return text;
}

void check_golden(const std::string& name, const std::string& arguments) {
  INFO(name);
  const std::string found = outcome(arguments);
  CHECK(found == test_support::golden("noise_allreduce/" + name + ".txt", found));
}

const std::string two_clusters = "--config configs/two-clusters.yaml ";

}  // namespace

TEST_CASE("noise_allreduce command line: wrong ones exit with 2, say why and where help is") {
  check_golden("nothing", "");
  check_golden("misspelt_option", two_clusters + "--iteratoins 5");
  check_golden("no_iterations", two_clusters + "--iterations 0");
  check_golden("misspelt_host", two_clusters + "--host alpah-0");
  check_golden("host_on_virtual_clock", two_clusters + "--clock virtual --host alpha-0");
  check_golden("misspelt_compute", two_clusters + "--compute spinn");
  check_golden("spin_on_virtual_clock", two_clusters + "--clock virtual --compute spin");
  check_golden("no_unit", two_clusters + "--compute-time 30");
  check_golden("no_values", two_clusters + "--clock virtual --values no_such_file");
  check_golden("unwritable_json", two_clusters + "--clock virtual --json /nowhere/out.json");
}

TEST_CASE("noise_allreduce command line: help, and the table of a virtual run") {
  check_golden("help", "--help");
  check_golden("table", two_clusters + "--clock virtual --iterations 20 --algorithm conditional");
}
#endif
