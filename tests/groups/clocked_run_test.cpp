// SPDX-License-Identifier: Apache-2.0
// tests/groups/clocked_run_test.cpp — measured times of work that members begin together.
#include "groups/clocked_run.hpp"

#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/support/folder.hpp"
#include "tests/support/sim.hpp"

using namespace std::chrono_literals;

namespace {

/// Returns the measured durations of an allreduce of one element by two hosts. The latency of the
/// link from a to b follows `recording`. The latency from b to a is 1 ms.
groups::ClockedRun time_allreduce(const std::string& recording) {
  const test_support::WrittenFile file(recording, "a.trace");
  const test_support::Sim sim(
      fmt::format("clusters: {{a: {{hosts: 1}}, b: {{hosts: 1}}}}\nlanes:\n"
                  "links:\n  - {{from: a, to: b, trace: {}}}\n"
                  "  - {{from: b, to: a, latency: 1ms}}\n",
                  file.path()));
  std::vector<groups::ClockedRun> runs(2);
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    runs[world.rank()] = groups::run_clocked(thread, world, [&] {
      const std::array<std::int64_t, 1> in{1};
      std::array<std::int64_t, 1> out{};
      world.run(groups::by("recursive_doubling", groups::allreduce(in, out, "sum")));
    });
  });
  CHECK(runs[0].time == runs[1].time);
  CHECK(runs[0].late == runs[1].late);
  return runs[0];
}

}  // namespace

TEST_CASE("clocked run: the time contains the work only if all members start together") {
  const auto run = time_allreduce("0 1\n100 1\n");
  CHECK(run.late == 0ns);
  CHECK(run.time == 1ms);
}

TEST_CASE("clocked run: the time counts from the start of the last member") {
  // The message with the agreed instant reaches host b half a second late. Host a starts at that
  // instant.
  const auto run = time_allreduce("0 1\n0.0015 500\n0.01 1\n100 1\n");
  CHECK(run.late > 400ms);
  CHECK(run.time == 1ms);
}
