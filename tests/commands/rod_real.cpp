// SPDX-License-Identifier: Apache-2.0
// tests/commands/rod_real.cpp — what docs/shared-space.md has one do: a solver of two processes, a
// monitor that comes later, and a feeder that is stopped and started again.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/shell.hpp"

namespace {

using test_support::HostProcess;

/// From the top of the sources; it ends after a minute at the latest.
HostProcess start_program(std::vector<std::string> words, const std::string& run = "") {
  return HostProcess([&](const test_support::Say&) {
    for (const char* const variable : {"PATHS_CONFIG", "PATHS_HOST"}) unsetenv(variable);
    setenv("PATHS_RUN", run.c_str(), 1);
    alarm(60);
    if (chdir(PATHS_SOURCE_DIR) != 0) return 126;
    words[0] = std::string(PATHS_BUILD_BIN_DIR) + "/" + words[0];
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    return 127;
  });
}

std::string said_by(const std::vector<std::string>& words) {
  HostProcess process = start_program(words);
  process.end();
  return process.text();
}

}  // namespace

TEST_CASE("rod: solved, watched, and heated by a feeder that is stopped and started again") {
  if (PATHS_HAS_BENCH == 0) return;  // nor are there examples
  // A name of its own, so that other runs of the example are not met.
  const std::string run = "rod-test-" + std::to_string(getpid());
  HostProcess solver = start_program({"paths", "run", "configs/examples/rod.yaml", "--",
                                      "rod_solver", "--steps", "1000", "--pause", "3"},
                                     run);
  const std::string space = "left." + base::digest_of(run).text().substr(0, 12);
  std::string listed;
  for (int tried = 0; tried < 1000 && listed.find(space + ": ") == listed.npos; ++tried)
    listed = said_by({"paths", "space", "list"});
  CHECK_THAT(listed, Catch::Contains(space + ": "));
  const std::string watched =
      said_by({"paths", "space", "watch", space, "residual", "--tuples", "3"});
  INFO(watched);
  CHECK(std::count(watched.begin(), watched.end(), '\n') == 3);
  HostProcess feeder = start_program({"rod_feeder", space, "--times", "1000000", "--pause", "1"});
  std::string shown;
  do {
    shown = said_by({"paths", "space", "show", space});
  } while (shown.find("heat \"u64, f64\": first 0, last 0") != shown.npos);
  feeder.signal_it(SIGTERM);
  CHECK(feeder.end() == 128 + SIGTERM);
  CHECK_THAT(said_by({"rod_feeder", space, "--times", "3", "--pause", "1"}),
             Catch::Contains("heated 3 times"));
  CHECK(solver.end(40'000) == 0);
  INFO(solver.text());
  const auto lines = solver.lines("1000 steps, heated ");
  REQUIRE(lines.size() == 1);
  CHECK(std::stoul(lines[0]) >= 4);
  const std::string after = said_by({"paths", "space", "list"});
  CHECK(after.find(space) == after.npos);
}
