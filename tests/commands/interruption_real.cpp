// SPDX-License-Identifier: Apache-2.0
// tests/commands/interruption_real.cpp — Ctrl-C in programs that measure for a long time.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

using Catch::Contains;

/// Runs a program and sends Ctrl-C after two seconds. If the output lacks `wanted`, repeats this
/// with a longer time before Ctrl-C, because the machine may be busy. None of these programs ends
/// within that time on its own. A program may write to `$file`, whose content is appended to the
/// output.
test_support::Said interrupted(const std::string& words, const std::string& wanted) {
  test_support::Said said;
  for (const int seconds : {2, 8, 32}) {
    said = test_support::run_shell(
        fmt::format("cd {} && export PATH={}:$PATH && file=$(mktemp) && "
                    "timeout --foreground -s INT {} {}; echo code $?; cat $file; rm $file",
                    PATHS_SOURCE_DIR, PATHS_BUILD_BIN_DIR, seconds, words));
    if (said.text.find(wanted) != std::string::npos) break;
  }
  return said;
}

}  // namespace

TEST_CASE("interruption: noise_allreduce and sor print the iteration times so far") {
  for (const std::string words :
       {"noise_allreduce --config configs/two-clusters.yaml --clock virtual --iterations 3000000",
        // With omega so close to 2, the grid converges too slowly for the condition to hold.
        "sor --config configs/sor-one-host.yaml --clock virtual --size 40 --omega 1.9999999 "
        "--iterations 900000000"}) {
    const test_support::Said said = interrupted(words, ": interrupted after ");
    INFO(said.text);
    CHECK_THAT(said.text, Contains(": interrupted after ") && Contains(" iterations; of thread 0"));
    CHECK_THAT(said.text, Contains("ms per iteration") && Contains(" p99 "));
    CHECK_THAT(said.text, Contains("code 124"));
  }
}

TEST_CASE("interruption: collective keeps the printed rows and writes them as JSON") {
  const test_support::Said said = interrupted(
      "collective --config configs/two-by-four.yaml --clock virtual allreduce -m 8B:1GiB "
      "-i 50 -x 0 --json $file",
      "\"bytes\": 8,");
  INFO(said.text);
  CHECK_THAT(said.text, Contains("# allreduce by") && Contains("# interrupted: the figures of "));
  CHECK_THAT(said.text, Contains("\"interrupted\": true") && Contains("\"bytes\": 8,"));
}
#endif
