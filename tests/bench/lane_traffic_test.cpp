// SPDX-License-Identifier: Apache-2.0
// tests/bench/lane_traffic_test.cpp — messages of all sizes between all threads of three clusters
// on the virtual clock.
#include "bench/lane_traffic/lane_traffic.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "base/text_file.hpp"
#include "paths/host/deployment.hpp"
#include "tests/support/sim.hpp"

TEST_CASE("lane_traffic: random messages of all sizes arrive once and in order") {
  const char* const wanted = std::getenv("PATHS_LANE_MESSAGES");
  bench::LaneTrafficOptions options;
  options.messages = wanted != nullptr ? std::stoull(wanted) : 10'000;
  const test_support::Sim sim(
      base::load_text(PATHS_SOURCE_DIR "/bench/lane_traffic/lanes.yaml", 1 << 20));
  REQUIRE(sim.plan().thread_count() == 32);
  bench::LaneTraffic traffic(options);
  traffic.prepare(sim.plan());
  sim.run_well([&](paths::Thread& thread) { traffic.run(thread); });
  CHECK(traffic.figures().received == options.messages);
  CHECK(traffic.figures().inbox_held_most <= sim.plan().lanes.inbox_bytes);
}
