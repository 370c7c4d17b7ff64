// SPDX-License-Identifier: Apache-2.0
// tests/bench/huge_tree_slow.cpp — memory per host and thread of very large runs on the virtual
// clock.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

/// Returns the memory in bytes that the run of a tree uses, without the memory of its plan.
double bytes_of_run(std::uint32_t clusters, std::uint32_t hosts, std::uint32_t threads) {
  const test_support::Said run = test_support::run_shell(
      fmt::format("{}/huge_tree --clusters {} --hosts {} --threads {} --allreduces 3 2>/dev/null",
                  PATHS_BUILD_BIN_DIR, clusters, hosts, threads));
  REQUIRE(run.exit_code == 0);
  const auto figures = nlohmann::json::parse(run.text);
  CHECK(figures.at("threads") == clusters * hosts * threads);
  const auto& peak = figures.at("peak_rss_bytes");
  return peak.at("run").get<double>() - peak.at("expand").get<double>();
}

}  // namespace

TEST_CASE("huge tree: 20,000 threads of 200 hosts allreduce with less than 8 KiB of memory each") {
  CHECK(bytes_of_run(20, 10, 100) / 20'000 < 8 * 1024);
}

TEST_CASE("huge tree: memory per host is the same with 20000 hosts as with 2000") {
  const double of_few = bytes_of_run(20, 100, 1) / 2'000;
  const double of_many = bytes_of_run(200, 100, 1) / 20'000;
  CHECK(of_many < 1.1 * of_few);
  CHECK(of_many < 40 * 1024);
}
#endif
