// SPDX-License-Identifier: Apache-2.0
// tests/paths/host_lost_test.cpp — death of a host at some time on the virtual clock, under every
// relaxation.
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

/// Returns the error that ended each thread of the other hosts when `victim` died after 101 ms.
std::map<std::string, std::vector<std::string>> run_without(
    std::uint32_t victim, const Sim& sim, const std::function<void(paths::Thread&)>& round) {
  MortalHosts hosts(sim, [&](paths::Thread& thread) {
    for (int i = 0; i < 200; ++i) {
      thread.sleep_for(2ms);
      round(thread);
    }
  });
  auto ended = hosts.run([&] {
    hosts.runtime().sleep_until(101ms);
    hosts.kill(victim);
  });
  ended.erase(sim.plan().hosts[victim].name);
  return ended;
}

std::string config(const std::string& algorithm) {
  return fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: 2, threads: 1, gateway: gate}}
  gamma: {{hosts: 1, threads: 1}}
links:
  - {{between: [alpha, beta], latency: 10ms}}
  - {{between: [beta, gamma], latency: 20ms}}
  - {{between: [alpha, gamma], latency: 5ms}}
collectives:
  sum: {{operation: sum, template: f64, {}, condition: {{less: 1}},
        contributions: non_negative}}
)",
                     algorithm);
}

void contribute_to_sum(paths::Thread& thread) {
  thread.path("sum").move_value(0.001);  // no cluster's value alone decides the condition
}

/// Sends to the previous and to the next thread, and receives from both. Exception: the thread of
/// rank `ranks` - 1 receives nothing from the next thread.
void tell_neighbours_within(paths::Thread& thread, std::uint32_t ranks) {
  const std::uint32_t rank = thread.rank();
  const auto to_next = fmt::format("rows.{}.from_previous", rank + 1);
  const auto to_previous = fmt::format("rows.{}.from_next", rank - 1);
  for (const std::string& inbox : {to_next, to_previous})
    if (thread.has_path(inbox)) thread.path(inbox).send(base::Payload::of(rank));
  for (const std::string where : {"from_previous", "from_next"})
    if (where == "from_next" && rank + 1 == ranks)
      continue;
    else if (const auto inbox = fmt::format("rows.{}.{}", rank, where); thread.has_path(inbox))
      thread.path(inbox).observe();
}

void tell_neighbours(paths::Thread& thread) { tell_neighbours_within(thread, thread.threads()); }

}  // namespace

TEST_CASE("host lost: a wait for a neighbour on it fails and then the waits of others for those") {
  const Sim sim(config("algorithm: sequential") + "exchanges: {rows: {template: u32}}\n");
  for (std::uint32_t victim = 0; victim < sim.plan().hosts.size(); ++victim) {
    const std::string& name = sim.plan().hosts[victim].name;
    INFO(name);
    for (const auto& [host, threads] : run_without(victim, sim, tell_neighbours))
      for (const std::string& error : threads) {
        INFO(host);
        CHECK_THAT(error, Catch::Contains("host " + name + " is gone") || Catch::Contains("ended"));
      }
  }
}

TEST_CASE(
    "host lost: other clusters get an error even if the last thread to end was on another host") {
  const std::string rows = "exchanges: {rows: {template: u32}}\n";
  for (const std::string algorithm : {"algorithm: magpie", "algorithm: 'lagged:3'"}) {
    const Sim sim(config(algorithm) + rows);
    const auto near_only = [](paths::Thread& thread) {
      if (thread.cluster() == "alpha") tell_neighbours_within(thread, 4);
      contribute_to_sum(thread);
    };
    for (const auto& [host, threads] : run_without(1, sim, near_only))
      for (const std::string& error : threads) {
        INFO(algorithm << ", " << host);
        CHECK_FALSE(error.empty());
      }
  }
}

TEST_CASE("host lost: every other thread gets an error that names it and all hosts end") {
  for (const std::string algorithm :
       {"algorithm: sequential", "algorithm: magpie", "algorithm: exact", "algorithm: conditional",
        "algorithm: 'conditional:push'", "algorithm: 'conditional:demand'",
        "algorithm: 'conditional:subscribe:8'", "algorithm: 'periodic:4'", "algorithm: 'lagged:3'",
        "algorithm: 'budget:8,4'", "graph: tree, relaxation: {lagged: 3}"}) {
    const Sim sim(config(algorithm));
    for (std::uint32_t victim = 0; victim < sim.plan().hosts.size(); ++victim) {
      const std::string& name = sim.plan().hosts[victim].name;
      INFO(algorithm << ", " << name);
      for (const auto& [host, threads] : run_without(victim, sim, contribute_to_sum))
        for (const std::string& error : threads) {
          INFO(host);
          CHECK_THAT(error, Catch::Contains("host " + name + " is gone"));
        }
    }
  }
}

TEST_CASE("host lost: it ends a run in which each cluster decides the condition alone") {
  for (const std::string algorithm :
       {"conditional", "'conditional:push'", "'conditional:demand'", "'conditional:subscribe:8'"}) {
    const Sim sim(config("algorithm: " + algorithm));
    for (std::uint32_t victim = 0; victim < sim.plan().hosts.size(); ++victim) {
      const std::string& name = sim.plan().hosts[victim].name;
      INFO(algorithm << ", " << name);
      const auto ended = run_without(
          victim, sim, [](paths::Thread& thread) { thread.path("sum").move_value(1.0); });
      for (const auto& [host, threads] : ended)
        for (const std::string& error : threads) {
          INFO(host);
          CHECK_THAT(error, Catch::Contains("host " + name + " is gone"));
        }
    }
  }
}

TEST_CASE("host lost: a host between it and others announces the end of each of its threads") {
  const Sim sim(R"(
hosts:
  here: {cluster: alpha, threads: 1, address: "tcp://127.0.0.1:1"}
  between: {cluster: alpha, threads: 1, address: "tcp://127.0.0.1:2"}
  far: {cluster: alpha, threads: 3, address: "tcp://127.0.0.1:3"}
elements:
  log: {host: here, template: f64}
  other: {host: here, template: f64}
paths:
  - {graph: log, host: far, threads: 0-2,
     through: [forward: {to: between}, forward: {to: here}, store: {element: log}]}
  - {graph: other, host: between, threads: 0,
     through: [forward: {to: here}, store: {element: other}]}
)");
  const auto ended = run_without(*sim.plan().host_named("far"), sim, [](paths::Thread& thread) {
    for (const std::string graph : {"log", "other"})
      if (thread.has_path(graph)) thread.path(graph).move_value(1.0);
  });
  for (const auto& [host, threads] : ended) {
    INFO(host);
    CHECK(threads == std::vector<std::string>{""});
  }
}
