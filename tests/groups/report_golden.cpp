// SPDX-License-Identifier: Apache-2.0
// tests/groups/report_golden.cpp — text of the report on groups.
#include <catch2/catch.hpp>

#include "tests/groups/members.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/traced_run.hpp"

using namespace std::chrono_literals;

TEST_CASE("group reports: the text matches the golden file") {
  const test_support::TracedRun run(test_support::six_threads, [](paths::Thread& thread) {
    groups::Group world(thread);
    const std::vector<std::int64_t> mine(30'000, world.rank());
    std::vector<std::int64_t> all(30'000);
    for (int time = 0; time < 5; ++time) {
      thread.sleep_for(world.rank() == 1 ? 8ms : 5ms);
      world.run(groups::allreduce(mine, all, "sum"));
      world.run(groups::broadcast(all, 4));
    }
    const auto half = world.split(world.rank() % 2);
    half->run(groups::barrier());
  });
  const std::string text = to_text(run.report().report, 10);
  CHECK(text == test_support::golden("group_report.txt", text));
}
