// SPDX-License-Identifier: Apache-2.0
// tests/commands/wake_up_test.cpp — measurement of the wake-up time of hosts, on hosts whose
// wake-up time is known.
#include <catch2/catch.hpp>
#include <numeric>

#include "commands/wake_up_measurement.hpp"
#include "paths/host/host.hpp"
#include "tests/support/sim.hpp"

using namespace std::chrono_literals;

TEST_CASE("wake-up: the measurement finds the time that the config of a virtual run states") {
  const std::size_t hosts = GENERATE(2, 3, 4, 8), cores = GENERATE(1, 2, 3, 16);
  const test_support::Sim sim(
      fmt::format("clusters: {{a: {{hosts: {}, network: {{latency: 20us}}}}}}\nlanes: {{}}\n"
                  "costs: {{send: 3us, receive: 5us, cores: {}, wake_up: 80us}}\n",
                  hosts, cores));
  std::vector<std::uint32_t> numbers(hosts);
  std::iota(numbers.begin(), numbers.end(), 0);
  base::Nanos step{0};
  sim.run_well([&](paths::Thread& thread) {
    const base::Nanos found = commands::measure_step(thread, numbers);
    if (thread.rank() == 0) step = found;
  });
  const auto& costs = *sim.plan().costs;
  const auto found = commands::wake_up_of(step, hosts, cores, 20us, *costs.between("a", "a"));
  CAPTURE(hosts, cores, step.count());
  CHECK(static_cast<double>(found.count()) == Approx(80e3).epsilon(0.02));
}

TEST_CASE("wake-up: a step that is faster than its costs has no time to wake up") {
  const tuning::FrameCosts costs{.send = tuning::CostTable({{1, 3us}}),
                                 .receive = tuning::CostTable({{1, 5us}})};
  CHECK(commands::wake_up_of(27us, 4, 2, 20us, costs) == 0us);
  CHECK(commands::wake_up_of(60us, 4, 2, 20us, costs) == 12us);
}
