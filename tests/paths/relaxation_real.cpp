// SPDX-License-Identifier: Apache-2.0
// tests/paths/relaxation_real.cpp — relaxations that push values, in separate processes over real
// sockets.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/processes.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr int iterations = 60;

std::string config(const std::string& algorithm) {
  return network_line("ipc", 4) + fmt::format(R"(
deadline: 20s
clusters:
  alpha: {{hosts: 2, threads: 1}}
  beta: {{hosts: 2, threads: 2}}
links: [{{between: [alpha, beta], latency: 1ms}}]
collectives:
  sum: {{operation: sum, template: f64, algorithm: "{}", condition: {{less: 1}},
        contributions: non_negative}}
)",
                                              algorithm);
}

/// Returns a thread's value. The sum of all 6 threads is below 1 in some iterations. In the other
/// iterations the sum is at least 1, sometimes because of one thread only.
double value(std::uint32_t rank, int iteration) {
  if (iteration % 7 == 3) return 0.125;
  if (iteration % 3 == 0) return 0.25;
  return rank == static_cast<std::uint32_t>(iteration) % 6 ? 2.0 : 0.0;
}

/// Returns one letter per iteration: u = unchecked, h = holds, f = fails.
std::string conditions(paths::Thread& thread) {
  std::string text;
  for (int i = 0; i < iterations; ++i) {
    const paths::Result result = thread.path("sum").move_value(value(thread.rank(), i));
    text += "uhf"[static_cast<int>(result.condition)];
  }
  return text;
}

std::string conditions_on_virtual_clock(const Sim& sim) {
  std::string text;
  sim.run_well([&](paths::Thread& thread) {
    const std::string mine = conditions(thread);
    if (thread.rank() == 0) text = mine;
  });
  return text;
}

const char* any_algorithm() {
  return GENERATE("conditional:demand", "conditional:push", "lagged:2", "budget:8,4");
}

}  // namespace

TEST_CASE("relaxation of processes: conditions match those of the virtual clock") {
  const std::string algorithm = any_algorithm();
  INFO(algorithm);
  const Sim sim(config(algorithm));
  const std::string expected = conditions_on_virtual_clock(sim);
  CHECK(expected.find('h') != std::string::npos);
  CHECK(expected.find('f') != std::string::npos);
  auto processes = start_hosts(
      sim, [](paths::Thread& thread, const Say& say) { say("conditions " + conditions(thread)); });
  each_end(processes, [&](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 0);
    const auto lines = process.lines("conditions ");
    CHECK(lines.size() == (name[0] == 'b' ? 2 : 1));
    for (const std::string& line : lines) CHECK(line == expected);
  });
}

TEST_CASE("relaxation of processes: a killed host is named by all others within seconds") {
  const std::string algorithm = any_algorithm();
  const std::string victim = GENERATE("alpha-0", "alpha-1", "beta-0", "beta-1");
  INFO(algorithm << ", " << victim);
  const Sim sim(config(algorithm));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    for (int round = 0;; ++round) {
      thread.path("sum").move_value(0.125);  // no cluster's values alone decide the condition
      if (round == 20) say("is at work");
      thread.sleep_for(1ms);
    }
  });
  for (auto& [name, process] : processes) REQUIRE(process.says("is at work"));
  kill_host(processes, victim);
  check_loss(processes, victim, [](const std::string& name) { return name[0] == 'b' ? 2 : 1; });
}

TEST_CASE("relaxation of processes: a cluster that ends early is named by all others at once") {
  const std::string algorithm = any_algorithm();
  INFO(algorithm);
  const Sim sim(config(algorithm));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    for (int round = 0; round < 20 || thread.cluster() == "beta"; ++round) {
      thread.path("sum").move_value(0.125);
      thread.sleep_for(1ms);
    }
    say("is done");
  });
  const auto check = [](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == (name[0] == 'b' ? 1 : 0));
    for (const std::string& failure : process.lines("failed: "))
      CHECK_THAT(failure, Catch::Contains("host alpha-0"));
  };
  each_end(processes, check, soon);
}
