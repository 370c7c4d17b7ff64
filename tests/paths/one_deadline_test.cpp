// SPDX-License-Identifier: Apache-2.0
// tests/paths/one_deadline_test.cpp — an operation over several hosts has one deadline.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/mortal_hosts.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr base::Nanos deadline = 5s, frozen_at = 101ms;
/// Longest time from the deadline until all replies must have arrived.
constexpr base::Nanos grace = 1s;

/// Error of a thread, and the time since its last operation began.
struct Ending {
  std::string error;
  base::Nanos waited{0};
};

/// Freezes `victim`. Returns the error of each thread of the other hosts, keyed by host name.
std::map<std::string, std::vector<Ending>> run_with_frozen(
    std::uint32_t victim, const Sim& sim, const std::function<void(paths::Thread&)>& round) {
  std::map<std::string, std::vector<Ending>> endings;
  MortalHosts hosts(sim, [&](paths::Thread& thread) {
    for (;;) {
      thread.sleep_for(2ms);
      const base::Nanos begun = thread.now();
      try {
        round(thread);
      } catch (const paths::TravelError& error) {
        endings[thread.host().name()].push_back({error.what(), thread.now() - begun});
        throw;
      }
    }
  });
  hosts.run([&] {
    hosts.runtime().sleep_until(frozen_at);
    hosts.freeze(victim);
    hosts.runtime().sleep_until(60s);
    hosts.kill(victim);  // on the virtual clock no host notices the silent victim
  });
  endings.erase(sim.plan().hosts[victim].name);
  return endings;
}

void contribute(paths::Thread& thread) { thread.path("sum").move_value(0.001); }

/// Requires that the threads of all hosts except `victim` end in time.
void check_in_time(std::uint32_t victim, const Sim& sim, bool names_victim) {
  const std::string& name = sim.plan().hosts[victim].name;
  INFO("frozen: " << name);
  const auto endings = run_with_frozen(victim, sim, contribute);
  std::size_t ended = 0;
  for (const auto& [host, threads] : endings) {
    for (const Ending& one : threads) {
      INFO(host << " after " << base::format_time(one.waited) << ": " << one.error);
      CHECK(one.waited <= deadline + grace);
      if (names_victim) CHECK_THAT(one.error, Catch::Contains(name));
      ++ended;
    }
  }
  std::size_t survivors = 0;
  for (const auto& host : sim.plan().hosts)
    if (host.name != name) survivors += host.threads;
  CHECK(ended == survivors);
}

}  // namespace

TEST_CASE("one deadline: a tree of several levels fails in one deadline and names the host") {
  for (const std::uint32_t hosts : {2u, 4u, 8u, 16u}) {
    const Sim sim(fmt::format(R"(
deadline: 5s
clusters: {{a: {{hosts: {}, threads: 2}}}}
collectives: {{sum: {{operation: sum, template: f64, algorithm: sequential, fan_out: 2}}}}
)",
                              hosts));
    for (std::uint32_t victim = 0; victim < hosts; ++victim) check_in_time(victim, sim, true);
  }
}

TEST_CASE("one deadline: every algorithm over clusters fails in one deadline") {
  for (const std::string algorithm :
       {"algorithm: sequential", "algorithm: magpie", "algorithm: exact", "algorithm: conditional",
        "algorithm: 'conditional:push'", "algorithm: 'conditional:demand'", "algorithm: 'lagged:3'",
        "algorithm: 'budget:8,4'", "graph: tree, relaxation: {lagged: 3}"}) {
    const Sim sim(fmt::format(R"(
deadline: 5s
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: 2, threads: 1, gateway: gate}}
  gamma: {{hosts: 1, threads: 1}}
links:
  - {{between: [alpha, beta], latency: 10ms}}
  - {{between: [beta, gamma], latency: 20ms}}
  - {{between: [alpha, gamma], latency: 5ms}}
collectives:
  sum: {{operation: sum, template: f64, {}, condition: {{less: 1}}, contributions: non_negative}}
)",
                              algorithm));
    INFO(algorithm);
    for (std::uint32_t victim = 0; victim < sim.plan().hosts.size(); ++victim)
      check_in_time(victim, sim, false);
  }
}

TEST_CASE("one deadline: a late contributor leaves less time to the hosts below") {
  const Sim sim(R"(
deadline: 5s
clusters: {a: {hosts: 2, threads: 2}, b: {hosts: 1, threads: 1}}
links: [{between: [a, b], latency: 1ms}]
collectives: {sum: {operation: sum, template: f64, algorithm: sequential, root: a/a-0}}
)");
  // Thread 0 of a-1 enters the operation at once, thread 1 after 4 s. The thread of b never enters
  // the operation.
  std::map<std::string, base::Nanos> failed;
  const auto result = sim.run([&](paths::Thread& thread) {
    if (thread.cluster() == "b") return thread.sleep_for(20s);
    if (thread.rank() == 3) thread.sleep_for(4s);
    try {
      contribute(thread);
    } catch (const paths::TravelError& error) {
      failed[fmt::format("{}", thread.rank())] = thread.now();
      CHECK_THAT(std::string(error.what()), Catch::Contains("missing at the deadline: thread b-0"));
    }
  });
  CHECK(result.broke.empty());
  CHECK(failed.size() == 4);
  for (const auto& [rank, at] : failed) {
    INFO(rank);
    CHECK(at >= deadline);
    CHECK(at <= deadline + grace);
  }
}
