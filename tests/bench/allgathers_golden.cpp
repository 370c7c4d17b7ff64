// SPDX-License-Identifier: Apache-2.0
// tests/bench/allgathers_golden.cpp — output, errors and message times of the program `allgathers`.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

nlohmann::json row(const std::string& options) {
  const test_support::Said said = test_support::run_shell(
      "cd " PATHS_SOURCE_DIR " && " PATHS_BUILD_BIN_DIR "/allgathers " + options + " --json -");
  INFO(said.text);
  REQUIRE(said.exit_code == 0);
  return nlohmann::json::parse(said.text).at("results").at(0);
}

nlohmann::json contender(const nlohmann::json& row, const std::string& name) {
  const nlohmann::json& all = row.at("contenders");
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const nlohmann::json& one) { return one.at("name") == name; });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("allgathers: prints the fastest schedule first and refuses invalid options") {
  const std::string said = test_support::golden_text("allgathers configs/europe.yaml -m 64KiB") +
                           test_support::golden_text("allgathers -m 64KiB") +
                           test_support::golden_text("allgathers configs/europe.yaml -m 64x") +
                           test_support::golden_text("allgathers --random 2 1");
  CHECK(said == test_support::golden("allgathers.txt", said));
}

TEST_CASE(
    "allgathers: prints when messages cross links with full-duplex and half-duplex and blocking "
    "ports") {
  const auto full = row("configs/three-sites.yaml --crossings");
  const auto half = row("configs/three-sites.yaml --crossings --half-duplex");
  const auto blocking = row("configs/three-sites.yaml --blocking");
  const std::string min3 = "min3:pools=bandwidth";
  CHECK(contender(full, min3).at("ms").get<double>() == Approx(3990.24).margin(4));
  CHECK(contender(half, min3).at("ms").get<double>() == Approx(4555).margin(4.5));
  CHECK(contender(blocking, min3).at("ms") > contender(full, min3).at("ms"));
  for (const nlohmann::json& one : {contender(full, min3), contender(half, min3)}) {
    // The three sites (8, 4 and 8 hosts) need 12, 16 and 12 blocks of 256 KiB from other sites: 40
    // blocks in total.
    CHECK(one.at("wan").at("bytes") == 40 * 256 * 1024);
    CHECK(one.at("wan").at("on_links_ms").size() == 40);
    for (const auto& [begin, end] :
         one.at("wan").at("on_links_ms").get<std::vector<std::pair<double, double>>>()) {
      CHECK(begin < end);
      CHECK(end <= one.at("ms").get<double>());
    }
  }
  // Magpie first gathers inside the sites. During this time no message crosses to another site.
  const auto magpie = contender(full, "magpie").at("wan").at("on_links_ms");
  CHECK(magpie.at(0).at(0) > 100);
}
#endif
