// SPDX-License-Identifier: Apache-2.0
// tests/bench/sor_real.cpp — hosts in separate processes that solve a grid together.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/folder.hpp"
#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

using test_support::read_text;
using test_support::run_shell;
using test_support::Said;

constexpr const char* two_clusters = R"(
clusters:
  alpha: {hosts: 2, threads: 1}
  beta: {hosts: 1, threads: 2, gateway: beta-gateway}
links:
  - {between: [alpha, beta], latency: 2ms}
network: {transport: ipc}
collectives:
  sum: {operation: sum, template: f64, algorithm: magpie, condition: {less: 3.6e-5},
        contributions: non_negative}
exchanges:
  rows: {template: "f64[]"}
elements:
  report: {host: alpha-0, template: bytes, reach: all}
)";

/// Temporary folder for a config and the output of its run. PATHS derives the names of sockets from
/// the name of the config, so runs from different folders use different sockets.
struct ConfigFolder : test_support::Folder {
  std::string config() const { return config_; }

 private:
  const std::string config_ = write(fmt::format("sor-{}.yaml", getpid()), two_clusters);
};

}  // namespace

TEST_CASE("sor: processes have the cells and sums and messages of the simulation") {
  const ConfigFolder folder;
  nlohmann::json figures[2];
  for (const bool is_virtual : {false, true}) {
    const std::string name = is_virtual ? "virtual" : "steady";
    const Said run = run_shell(fmt::format(
        "{0}/paths run {1} --clock {2} -- sor --size 60 --halo 3 --check --values {3} --raw {4} "
        "--json {5}",
        PATHS_BUILD_BIN_DIR, folder.config(), name, folder.file(name + ".values"),
        folder.file(name + ".raw"), folder.file(name + ".json")));
    INFO(run.text);
    REQUIRE(run.exit_code == 0);
    CHECK_THAT(run.text, Catch::Contains("as the reference has it: every cell"));
    figures[is_virtual ? 1 : 0] = nlohmann::json::parse(read_text(folder.file(name + ".json")));
  }
  for (const char* key : {"iterations", "stop_iteration", "conditions", "grid_digest", "threads",
                          "redundant_rows_share"})
    CHECK(figures[0][key] == figures[1][key]);
  CHECK(figures[0]["wan"]["exchange"] == figures[1]["wan"]["exchange"]);
  CHECK(read_text(folder.file("steady.values")) == read_text(folder.file("virtual.values")));
  CHECK(read_text(folder.file("steady.raw")).size() == 60 * 60 * 8);
  CHECK(read_text(folder.file("steady.raw")) == read_text(folder.file("virtual.raw")));
}

TEST_CASE("sor: both sides choose the same hidden halo between processes") {
  const ConfigFolder folder;
  const Said run = run_shell(
      fmt::format("{}/paths run {} --algorithm conditional -- sor --size 60 --halo hidden --check",
                  PATHS_BUILD_BIN_DIR, folder.config()));
  INFO(run.text);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.text, Catch::Contains("as the reference has it: every cell"));
}

TEST_CASE("sor: a single thread computes the same grid and writes the same values") {
  const ConfigFolder folder;
  const std::string alone = folder.file("alone"), together = folder.file("together");
  const std::string program = std::string(PATHS_BUILD_BIN_DIR) + "/sor_alone --size 60 --blocks 4";
  for (const std::string more : {"", " --reference"}) {
    const Said run = run_shell(fmt::format("{}{} --epsilon 3.6e-5 --values {} --json {}", program,
                                           more, alone, folder.file("alone.json")));
    INFO(run.text);
    REQUIRE(run.exit_code == 0);
    const Said parallel = run_shell(
        fmt::format("{}/paths run {} --clock virtual -- sor --size 60 --values {} --json {}",
                    PATHS_BUILD_BIN_DIR, folder.config(), together, folder.file("together.json")));
    INFO(parallel.text);
    REQUIRE(parallel.exit_code == 0);
    const auto one = nlohmann::json::parse(read_text(folder.file("alone.json")));
    const auto all = nlohmann::json::parse(read_text(folder.file("together.json")));
    CHECK(one["iterations"] == all["iterations"]);
    CHECK(one["grid_digest"] == all["grid_digest"]);
    const auto rows = [](const std::string& text) { return text.substr(text.find('\n')); };
    CHECK(rows(read_text(alone)) == rows(read_text(together)));
  }
}

TEST_CASE("sor, sor_alone: a full standard output is a failure") {
  const ConfigFolder folder;
  const std::string programs[] = {"sor_alone --size 20",
                                  "sor --clock virtual --size 20 --config " + folder.config()};
  for (const std::string& program : programs) {
    const Said run = run_shell(fmt::format("{}/{} 2>&1 >/dev/full", PATHS_BUILD_BIN_DIR, program));
    INFO(run.text);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.text, Catch::Contains("standard output could not be written"));
  }
}
#endif
