// SPDX-License-Identifier: Apache-2.0
// tests/commands/run_log_test.cpp — the file that logs all runs of `paths tune`.
#include "commands/run_log.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <stdexcept>

#include "tests/support/folder.hpp"

using base::Nanos;
using commands::RunLog;

TEST_CASE("run log: a tune takes the times of the one that was ended, each once and in order") {
  const test_support::Folder folder;
  const std::string file = folder.file("samples");
  {
    RunLog log(file, "one");
    CHECK(log.remaining() == 0);
    log.add("a", Nanos(3));
    log.add("b", std::nullopt);
    log.add("a", Nanos(4));
  }
  std::ofstream(file, std::ios::app) << R"({"run": 5, "nanos": 1})"
                                     << "\n[1]\n"
                                     << R"({"run": "a", "na)";
  {
    RunLog log(file, "one");
    CHECK(log.remaining() == 3);
    CHECK(log.take("a").value() == Nanos(3));
    CHECK(log.take("a").value() == Nanos(4));
    CHECK(!log.take("a"));
    CHECK(!log.take("b").value());  // the run of "b" was disturbed: no time
    CHECK(!log.take("c"));
    CHECK(log.remaining() == 0);
    log.add("c", Nanos(5));
  }
  CHECK(RunLog(file, "one").remaining() == 4);
}

TEST_CASE("run log: another tune and one that has finished begin anew") {
  const test_support::Folder folder;
  const std::string file = folder.file("samples");
  RunLog(file, "one").add("a", Nanos(3));
  CHECK(RunLog(file, "two").remaining() == 0);
  CHECK(RunLog(file, "one").remaining() == 0);  // the last tune in the file is "two"
  RunLog(file, "one").add("a", Nanos(3));
  CHECK(RunLog(file, "one").remaining() == 1);
  RunLog(file, "one").finish();
  CHECK(RunLog(file, "one").remaining() == 0);
}

TEST_CASE("run log: a file that cannot be written is named") {
  CHECK_THROWS_WITH(RunLog("/proc/nothing", "one"), Catch::Contains("cannot write /proc/nothing"));
}
