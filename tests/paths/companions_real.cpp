// SPDX-License-Identifier: Apache-2.0
// tests/paths/companions_real.cpp — programs that run next to the processes of a run.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "paths/run/launch.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"

namespace {

using namespace paths;
using namespace test_support;
using namespace std::chrono_literals;

struct Launched {
  int code = 0;
  std::string out, err;
};

Launch shell(std::string host, std::string script) {
  return {
      .host = std::move(host), .command = {"/bin/sh", "-c", std::move(script)}, .variables = {}};
}

/// Launches a host that runs `script`, and a companion that runs `companion`.
Launched launched(const std::string& script, const std::string& companion) {
  const Folder folder;
  const std::string out = folder.write("out", ""), err = folder.write("err", "");
  LaunchOptions options;
  options.out = open(out.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  options.err = open(err.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  options.companions = {shell("alpha-0", companion)};
  options.companions.front().has_own_group = true;
  Launched outcome;
  outcome.code = launch({shell("alpha-0", script)}, options);
  outcome.out = read_text(out);
  outcome.err = read_text(err);
  close(options.out);
  close(options.err);
  return outcome;
}

std::vector<pid_t> pids_in(const std::string& file) {
  std::ifstream lines(file);
  std::vector<pid_t> pids;
  for (pid_t pid; lines >> pid;) pids.push_back(pid);
  return pids;
}

/// Waits a limited time for the end of a process that is not our child. Returns whether it ended.
bool ends_soon(pid_t pid) {
  for (int i = 0; i < 500 && kill(pid, 0) == 0; ++i) pause(10ms);
  return kill(pid, 0) != 0;
}

/// Returns a script that appends the number of its process, and that of a process that it starts,
/// to `file`.
std::string noted(const std::string& file, const std::string& script) {
  return fmt::format("sleep 1000 & echo $$ $! >> {}; {}", file, script);
}

void check_all_ended(const std::string& file, std::size_t least) {
  const std::vector<pid_t> pids = pids_in(file);
  CHECK(pids.size() >= least);
  for (const pid_t pid : pids) CHECK(ends_soon(pid));
}

}  // namespace

TEST_CASE("companions: one that exits with 0 starts again and ends with the hosts") {
  const Folder folder;
  const Launched outcome =
      launched("sleep 2.8; echo table",
               noted(folder.file("pids"), "echo result; echo progress >&2; sleep 1.1"));
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "alpha-0| table\n");  // nothing of the companion's standard output
  CHECK_THAT(outcome.err, Catch::Contains("alpha-0 companion| progress\n"));
  CHECK_THAT(outcome.err, Catch::Contains("/bin/sh next to the hosts ended and was started again"));
  check_all_ended(folder.file("pids"), 4);  // two starts, two processes each
}

TEST_CASE("companions: one that needs no restart causes no message") {
  const Folder folder;
  const Launched outcome = launched("sleep 0.2", noted(folder.file("pids"), "sleep 1000"));
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  check_all_ended(folder.file("pids"), 2);
}

TEST_CASE("companions: one that fails stops the hosts with its exit code in the message") {
  const Launched failed = launched("exec sleep 60", "exit 3");
  CHECK(failed.code == 1);
  CHECK(failed.err ==
        "paths run: /bin/sh next to host alpha-0 ended with exit code 3; the hosts were stopped\n");
  CHECK(launched("exec sleep 60", "exit 2").code == 2);
  CHECK_THAT(launched("exec sleep 60", "kill -9 $$").err,
             Catch::Contains("was killed by signal 9 (Killed); the hosts were stopped"));
}

TEST_CASE("companions: one that exits with 0 at once stops the hosts") {
  const Launched outcome = launched("exec sleep 60", "exit 0");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.err, Catch::Contains("ended in less than 1 s; expected a program that "
                                          "computes longer; the hosts were stopped"));
}

TEST_CASE("companions: a failure of a host ends them also if they ignore SIGTERM") {
  const Folder folder;
  const Launched outcome = launched(
      "sleep 0.3; exit 5", "trap '' TERM; " + noted(folder.file("pids"), "sleep 1000; sleep 1000"));
  CHECK(outcome.code == 1);
  CHECK(outcome.err == "paths run: host alpha-0 ended with exit code 5\n");
  check_all_ended(folder.file("pids"), 2);
}
