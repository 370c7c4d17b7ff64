// SPDX-License-Identifier: Apache-2.0
// tests/bench/huge_tree_slow.cpp — a tree of very many threads on the virtual clock, as a program.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
TEST_CASE("huge tree: 20,000 threads allreduce with less than 32 KiB of memory each") {
  const std::string command =
      PATHS_BUILD_BIN_DIR "/huge_tree --clusters 200 --hosts 10 --threads 10 --allreduces 3";
  const test_support::Said run = test_support::run_shell(command);
  REQUIRE(run.exit_code == 0);
  const auto figures = nlohmann::json::parse(run.text);
  CHECK(figures.at("threads") == 20'000);
  CHECK(figures.at("peak_rss_bytes").at("run").get<double>() / 20'000 < 32 * 1024);
}
#endif
