// SPDX-License-Identifier: Apache-2.0
// tests/commands/rod_real.cpp — the example of docs/reference/shared-space.md: a solver of two
// processes, a monitor that attaches later, and a feeder that is stopped and started again.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/processes.hpp"
#include "tests/support/run_key.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace {

using test_support::HostProcess;

/// Starts a program in the top folder of the sources. The program is killed if it runs longer than
/// a minute.
HostProcess start_program(std::vector<std::string> words, const std::string& run_key = "") {
  return HostProcess([&](const test_support::Say&) {
    for (const char* const variable : {"PATHS_CONFIG", "PATHS_HOST"}) unsetenv(variable);
    setenv(paths::run_key_variable, run_key.c_str(), 1);
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

/// One run of the example. Its key is unique, so that parallel runs do not share a space.
struct Rod {
  explicit Rod(const std::string& steps)
      : space("left." + test_support::run_key()->id().text().substr(0, 12)),
        solver(start_program({"paths", "run", "configs/examples/rod.yaml", "--", "rod_solver",
                              "--steps", steps, "--pause", "3"},
                             test_support::digits_of(*test_support::run_key()))) {
    for (int tried = 0; tried < 1000 && listed.find(space + ": ") == listed.npos; ++tried)
      listed = said_by({"paths", "space", "list"});
    INFO(listed);
    REQUIRE_THAT(listed, Catch::Contains(space + ": "));
  }
  const std::string space;
  HostProcess solver;
  std::string listed;
};

}  // namespace

TEST_CASE("rod: results are equal on the virtual clock and in threads and in processes") {
  if (PATHS_HAS_BENCH == 0) return test_support::skip("examples");
  const std::vector<std::string> end = {"--steps", "300", "--pause", "0"};
  const auto said = [&](std::vector<std::string> words) {
    words.insert(words.end(), end.begin(), end.end());
    return said_by(words);
  };
  const std::string config = "configs/examples/rod.yaml";
  const std::string in_processes = said({"paths", "run", config, "--", "rod_solver"});
  CHECK_THAT(in_processes, Catch::StartsWith("300 steps, heated 0 times, changes by "));
  CHECK(said({"rod_solver", "--config", config, "--clock", "virtual"}) == in_processes);
  // The program also prints that no host was given to it.
  CHECK_THAT(said({"rod_solver", "--config", config}), Catch::EndsWith(in_processes));
}

TEST_CASE("rod: the rod is solved and watched while a feeder is stopped and started again") {
  if (PATHS_HAS_BENCH == 0) return test_support::skip("examples");
  Rod rod("1500");
  const std::string& space = rod.space;
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
  CHECK(rod.solver.end(40'000) == 0);
  INFO(rod.solver.text());
  const auto lines = rod.solver.lines("1500 steps, heated ");
  REQUIRE(lines.size() == 1);
  CHECK(std::stoul(lines[0]) >= 4);
  const std::string after = said_by({"paths", "space", "list"});
  CHECK(after.find(space) == after.npos);
}

TEST_CASE("rod: if the watched half is killed its run and the watcher report it") {
  if (PATHS_HAS_BENCH == 0) return test_support::skip("examples");
  Rod rod("1000000");
  HostProcess watch = start_program({"paths", "space", "watch", rod.space, "residual"});
  CHECK(watch.says("1"));
  const std::string owned = rod.space + ": ", by = "owned by ";
  const std::size_t line = rod.listed.find(owned), at = rod.listed.find(by, line);
  REQUIRE(at != rod.listed.npos);
  const std::string pid = std::to_string(std::stol(rod.listed.substr(at + by.size())));
  REQUIRE(rod.listed.substr(at + by.size()).starts_with(pid + " (left)"));
  REQUIRE(kill(static_cast<pid_t>(std::stol(pid)), SIGKILL) == 0);
  CHECK(rod.solver.end() == 1);
  CHECK_THAT(rod.solver.text(), Catch::Contains("host left was killed by signal 9"));
  CHECK(watch.end() == 1);
  CHECK_THAT(watch.text(), Catch::Contains("process " + pid +
                                           " (left), which owned the space, has "
                                           "died"));
  CHECK(said_by({"paths", "space", "list"}).find(rod.space) == std::string::npos);
}
