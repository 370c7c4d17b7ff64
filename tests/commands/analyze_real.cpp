// SPDX-License-Identifier: Apache-2.0
// tests/commands/analyze_real.cpp — options of `paths analyze` from the command line.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/folder.hpp"
#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

using Catch::Contains;

test_support::Said run_program(const std::string& words) {
  return test_support::run_shell("cd " PATHS_SOURCE_DIR
                                 " && env -u PATHS_CONFIG -u PATHS_HOST " PATHS_BUILD_BIN_DIR "/" +
                                 words);
}

}  // namespace

TEST_CASE("analyze: --name-from is the share of the run from which on a finding is named") {
  const test_support::Folder folder;
  const std::string trace = folder.file("trace");
  // The noise costs a few percent of the run.
  REQUIRE(run_program("noise_allreduce --config configs/two-clusters.yaml --clock virtual "
                      "--iterations 400 --noise b1/0=5ms/70ms --trace " +
                      trace)
              .exit_code == 0);
  const std::string noise = "thread b1/0 has noise of 5.000 ms";
  const auto analyze = [&](const std::string& options) {
    return run_program("paths analyze " + trace + options);
  };
  CHECK_THAT(analyze("").text, Contains(noise));
  CHECK_THAT(analyze(" --name-from 0.2").text, Contains(noise));
  CHECK_THAT(analyze(" --name-from 50").text, !Contains(noise));
  CHECK_THAT(analyze(" --name-from 50 --json -").text, Contains("\"named_from_share\": 0.5"));
  for (const char* wrong : {"-1", "x", "nan", "1e400"}) {
    CAPTURE(wrong);
    const auto said = analyze(std::string(" --name-from ") + wrong);
    CHECK(said.exit_code == 2);
    CHECK_THAT(said.text, Contains("--name-from"));
  }
}
#endif
