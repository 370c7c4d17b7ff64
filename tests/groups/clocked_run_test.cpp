// SPDX-License-Identifier: Apache-2.0
// tests/groups/clocked_run_test.cpp — measured times of work that members begin together.
#include "groups/clocked_run.hpp"

#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/evaluator.hpp"
#include "groups/selection/network_of.hpp"
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

/// Returns the measured duration of a broadcast along a chain of 16 hosts, and its predicted time.
std::pair<base::Nanos, base::Nanos> time_chain(base::Nanos expected) {
  const test_support::Sim sim(
      "clusters: {a: {hosts: 16, network: {latency: 8us, bandwidth: 2400Mbit}}}\nlanes:\n"
      "costs: {send: 3us, receive: 4us}\n");
  constexpr std::uint64_t count = 1 << 16;
  constexpr const char* segments = "shape=chain,segment=2048";
  groups::ClockedRun run;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    std::vector<std::uint8_t> bytes(count);
    const auto mine = groups::run_clocked(
        thread, world,
        [&] {
          world.run(groups::by(fmt::format("tree:{}", segments), groups::broadcast(bytes, 0)));
        },
        expected);
    if (world.rank() == 0) run = mine;
  });
  const pricing::Network network = groups::network_of(sim.plan());
  const auto& tree = collectives::algorithm_named("tree");
  const auto task =
      collectives::make_spec(collectives::Collective::broadcast, network.topology, count);
  return {run.time, pricing::price(tree, task, tree.read(segments), 1, network).time};
}

}  // namespace

TEST_CASE("clocked run: members that end early do not disturb the others before the expected end") {
  const auto [undisturbed, predicted] = time_chain(100ms);
  CHECK(undisturbed == predicted);
  CHECK(time_chain(0ms).first > predicted);
}

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
