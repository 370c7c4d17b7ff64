// SPDX-License-Identifier: Apache-2.0
// tests/bench/collective_golden.cpp — output and errors of the program `collective`.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

std::string collective(const std::string& options) {
  return test_support::golden_text(
      "paths run configs/two-by-four.yaml --clock virtual -- collective " + options);
}

void check_golden(const std::string& name, const std::string& said) {
  CHECK(said == test_support::golden(name, said));
}

}  // namespace

TEST_CASE("collective: prints times next to predicted times and bounds and validates every value") {
  check_golden("collective.txt",
               collective("broadcast,allreduce,alltoall,barrier -m 1024:1MiB -i 2 --full "
                          "--validation") +
                   collective("allreduce -m 8:8 --schedule tree:shape=binomial"));
}

TEST_CASE("collective: predicts times without sending and for each thread as the root") {
  check_golden("collective_roots.txt",
               collective("broadcast,scan -m 1MiB:2MiB --prices --full") +
                   collective("broadcast,barrier -m 64KiB -i 2 -x 0 --root-rank each "
                              "--schedule multilevel --validation"));
}

TEST_CASE("collective: prints the time and the link crossings of the broadcast of each root") {
  const test_support::Said said = test_support::run_shell(
      "cd " PATHS_SOURCE_DIR " && " PATHS_BUILD_BIN_DIR
      "/paths run configs/two-by-four.yaml --clock virtual -- collective broadcast -m 8 -i 1 "
      "--root-rank each --schedule tree --json -");
  const auto report = nlohmann::json::parse(said.text);
  CHECK(report.at("simulation").at("events") > 0);
  const auto row = report.at("results").at(0);
  std::vector<std::uint64_t> messages;
  for (const auto& root : row.at("by_root")) {
    CHECK(root.at("ms") == root.at("price_ms"));
    messages.push_back(root.at("wan").at("messages"));
  }
  // In a binomial tree, participants are numbered from the root, which has the number 0. The number
  // of a participant's sender is the participant's own number with the lowest 1 bit cleared: 6
  // (110) receives from 4 (100). With rank 1 as the root, ranks 5, 4 and 0 have the numbers 4, 3
  // and 7. They receive from the other cluster.
  CHECK(messages == std::vector<std::uint64_t>{1, 3, 3, 5, 1, 3, 3, 5});
  CHECK(row.at("wan").at("messages") == 24);
}

TEST_CASE("collective: reports no link crossings if it has no predicted time") {
  const test_support::Said said = test_support::run_shell(
      "cd " PATHS_SOURCE_DIR " && " PATHS_BUILD_BIN_DIR
      "/paths run configs/multicluster-small.yaml --clock virtual -- collective broadcast -m 8 "
      "-i 1 --json -");
  const auto row = nlohmann::json::parse(said.text).at("results").at(0);
  CHECK(row.at("price_ms").is_null());
  CHECK(row.at("wan").is_null());
}

TEST_CASE("collective: sizes are doubled from the first one up to the last, after 0 from 8") {
  const auto sizes = [](const std::string& option) {
    const test_support::Said said = test_support::run_shell(
        "cd " PATHS_SOURCE_DIR " && " PATHS_BUILD_BIN_DIR
        "/paths run configs/two-by-four.yaml --clock virtual -- collective broadcast -i 1 --json - "
        "-m " +
        option);
    std::vector<std::uint64_t> found;
    const auto report = nlohmann::json::parse(said.text);
    for (const auto& row : report.at("results")) found.push_back(row.at("bytes"));
    return found;
  };
  CHECK(sizes("8:20") == std::vector<std::uint64_t>{8, 16});
  CHECK(sizes("0:8") == std::vector<std::uint64_t>{0, 8});
}

TEST_CASE("collective: arrays shared by all threads do not change the times") {
  const std::string options = "allreduce,broadcast,alltoall,scan -m 8:64KiB -i 1";
  CHECK(collective(options + " --shared-arrays") == collective(options));
}

TEST_CASE("collective: refuses invalid options and suggests the nearest word") {
  check_golden("collective_mistakes.txt",
               collective("brodcast") + collective("broadcast -m 9:1") +
                   collective("broadcast -m 7") + collective("broadcast --root-rank 8") +
                   collective("broadcast --schedule strechted") +
                   collective("broadcast --root-rank all") +
                   collective("broadcast --shared-arrays --validation") +
                   test_support::golden_text("paths run configs/two-clusters.yaml --clock "
                                             "virtual -- collective scan --prices"));
}
#endif
