// SPDX-License-Identifier: Apache-2.0
// tests/commands/interruption_real.cpp — Ctrl-C in programs that measure for long.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

using Catch::Contains;

/// Ctrl-C after two seconds, in which each of these programs has begun and none ends. `$file` is
/// there for what they write, and is printed.
test_support::Said interrupted(const std::string& words) {
  return test_support::run_shell(
      fmt::format("cd {} && export PATH={}:$PATH && file=$(mktemp) && "
                  "timeout --foreground -s INT 2 {}; echo code $?; cat $file; rm $file",
                  PATHS_SOURCE_DIR, PATHS_BUILD_BIN_DIR, words));
}

}  // namespace

TEST_CASE("interruption: noise_allreduce and sor print how long iterations took so far") {
  for (const std::string words :
       {"noise_allreduce --config configs/two-clusters.yaml --clock virtual --iterations 3000000",
        // So close to 2 the grid converges too slowly for the condition to hold.
        "sor --config configs/sor-one-host.yaml --clock virtual --size 40 --omega 1.9999999 "
        "--iterations 900000000"}) {
    const test_support::Said said = interrupted(words);
    INFO(said.text);
    CHECK_THAT(said.text, Contains(": interrupted after ") && Contains(" iterations; of thread 0"));
    CHECK_THAT(said.text, Contains("ms per iteration") && Contains(" p99 "));
    CHECK_THAT(said.text, Contains("code 124"));
  }
}

TEST_CASE("interruption: collective keeps the rows that were printed, and writes them as JSON") {
  const test_support::Said said = interrupted(
      "collective --config configs/two-by-four.yaml --clock virtual allreduce -m 8B:1GiB "
      "-i 50 -x 0 --json $file");
  INFO(said.text);
  CHECK_THAT(said.text, Contains("# allreduce by") && Contains("# interrupted: the figures of "));
  CHECK_THAT(said.text, Contains("\"interrupted\": true") && Contains("\"bytes\": 8,"));
}
#endif
