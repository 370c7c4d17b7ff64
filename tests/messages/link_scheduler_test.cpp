// SPDX-License-Identifier: Apache-2.0
// tests/messages/link_scheduler_test.cpp — frames whose times are out of order because timers fire
// late.
#include "paths/links/link_scheduler.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/support/sim.hpp"

namespace {

using namespace std::chrono_literals;

/// Runs the due actions until no action is left.
void work_off(paths::DueQueue& due_queue) {
  while (!due_queue.empty()) due_queue.take()();
}

}  // namespace

TEST_CASE("departures: a frame that reaches a link with streams late leaves it") {
  const test_support::Sim sim(
      "clusters: {a: {hosts: 4, uplink: switch}, b: {hosts: 4, uplink: switch}}\n"
      "links: {all: {latency: 1ms, stream_rate: 10Mbit, streams: 8}}\nlanes:\n");
  const std::uint64_t seed = Catch::rngSeed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time});
  paths::EmulatedLinks links;
  paths::DueQueue due_queue(true);
  paths::LinkScheduler link_scheduler(runtime, sim.plan(), paths::switch_number(sim.plan(), 0),
                                      links, due_queue);
  std::size_t offered = 0;
  const auto offer = [&](base::Nanos head) {
    paths::LaneFrame frame;
    frame.source = static_cast<std::uint32_t>(random() % 4);
    frame.target = static_cast<std::uint32_t>(4 + random() % 4);
    frame.payload = base::Payload::of(std::uint64_t{7});
    link_scheduler.depart(std::move(frame), head);
    ++offered;
  };
  runtime.run([&] {
    for (const base::Nanos head : {100us, 99us, 98us}) {
      offer(head);
      work_off(due_queue);
    }
    CHECK(link_scheduler.leaving().size() == 3);
    for (int i = 0; i < 1000; ++i) {
      offer(base::Nanos(1 + random() % 1'000'000));
      if (random() % 2 == 0) work_off(due_queue);
    }
    work_off(due_queue);
    CHECK(link_scheduler.leaving().size() == offered);
  });
}
