// SPDX-License-Identifier: Apache-2.0
// tests/paths/liveness_real.cpp — killed, frozen and briefly stopped hosts, as processes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr base::Nanos silent = 1s;

/// Returns a config in which a host counts as gone if it is silent for the time `silent`.
std::string config(const std::string& transport, bool has_memory, const std::string& algorithm,
                   const std::string& deadline, const std::string& liveness) {
  std::string network = network_line(transport, 5);
  network.insert(network.find('}'), liveness);
  return network + fmt::format(R"(
deadline: {}
shared_memory: {}
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: [b1, b2], threads: 2, gateway: beta-gate}}
links: [{{between: [alpha, beta], latency: 1ms}}]
collectives:
  sum: {{operation: sum, template: f64, algorithm: {}, condition: {{greater: 1e12}},
        contributions: non_negative}}
)",
                               deadline, has_memory ? "true" : "false", algorithm);
}

/// Runs rounds until an error ends the thread.
void go_on(paths::Thread& thread, const Say& say) {
  for (int round = 0;; ++round) {
    thread.path("sum").move_value(1.0);
    if (round == 5) say("is at work");
    thread.sleep_for(1ms);
  }
}

/// Ends of the hosts that survive a fault.
struct Survivors {
  std::vector<double> seconds;  ///< seconds from the fault to the end of each process
  int named = 0;                ///< number of failures that name the victim
  int failures = 0;
  std::string text;
};

/// Waits for the ends of all hosts except the victim.
Survivors await_survivors(HostProcesses& processes, const std::string& victim,
                          const Stopwatch& since) {
  Survivors ends;
  for (auto& [name, process] : processes) {
    if (name == victim) continue;
    CHECK(process.end(30'000) >= 0);
    ends.seconds.push_back(static_cast<double>(since.now().count()) / 1e9);
    ends.text += name + ": " + process.text();
    for (const std::string& failure : process.lines("failed: ")) {
      ++ends.failures;
      if (failure.find("host " + victim) != std::string::npos) ++ends.named;
    }
  }
  return ends;
}

std::uint64_t number(const char* name, std::uint64_t usual) {
  const char* const text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

void check_round(runtime::Random& random, bool freezes) {
  const std::vector<std::string> algorithms = {"sequential", "magpie", "exact", "lagged:3"};
  const std::vector<std::string> hosts = {"alpha-0", "alpha-1", "b1", "b2", "beta-gate"};
  const std::string algorithm = algorithms[random.below(algorithms.size())];
  const std::string victim = hosts[random.below(hosts.size())];
  const std::string transport = random.chance(0.5) ? "tcp" : "ipc";
  const bool has_memory = random.chance(0.5);
  const auto moment = std::chrono::milliseconds(random.below(300));
  INFO(algorithm << ", " << victim << (freezes ? " frozen, " : " killed, ") << transport
                 << (has_memory ? " with" : " without") << " shared memory");
  const Sim sim(config(transport, has_memory, "'" + algorithm + "'", "60s",
                       ", liveness: {beat: 100ms, silent: 1s}"));
  auto processes = start_hosts(sim, go_on);
  for (auto& [name, process] : processes)
    if (name != "beta-gate") REQUIRE(process.says("is at work"));
  pause(moment);
  const Stopwatch clock;
  processes.at(victim).signal_it(freezes ? SIGSTOP : SIGKILL);
  const Survivors ends = await_survivors(processes, victim, clock);
  const double last = *std::max_element(ends.seconds.begin(), ends.seconds.end());
  std::cout << fmt::format(
      "liveness: {} {} {} {}: last survivor after {:.2f} s, {} of {} name it\n",
      freezes ? "stop" : "kill", algorithm, victim, has_memory ? "memory" : transport, last,
      ends.named, ends.failures);
  INFO(ends.text);
  CHECK(last <= std::chrono::duration<double>(silent + 1s).count());
  CHECK(ends.failures > 0);
  CHECK(ends.named == ends.failures);
  if (freezes) CHECK_THAT(ends.text, Catch::Contains("frozen: "));
  if (!freezes) CHECK_THAT(ends.text, Catch::Contains(paths::process_ended));
}

}  // namespace

TEST_CASE("liveness: survivors of a fault end in time and name the host") {
  const std::uint64_t rounds = number("PATHS_FAULTS", 1);
  runtime::Random random(number("PATHS_SEED", 1));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("round " << round);
    check_round(random, true);
    check_round(random, false);
  }
}

TEST_CASE("liveness: the loss of a cluster ends a run in which each cluster decides alone",
          "[without_tsan]") {
  const bool freezes = GENERATE(false, true);
  const std::string algorithm = GENERATE("conditional", "conditional:demand");
  const Sim sim(
      config("tcp", false, "'" + algorithm + "'", "60s", ", liveness: {beat: 100ms, silent: 1s}"));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    for (int round = 0;; ++round) {
      thread.path("sum").move_value(1e13);
      if (round == 5) say("is at work");
      thread.sleep_for(1ms);
    }
  });
  for (auto& [name, process] : processes)
    if (name != "beta-gate") REQUIRE(process.says("is at work"));
  const Stopwatch clock;
  processes.at("b2").signal_it(freezes ? SIGSTOP : SIGKILL);
  const Survivors ends = await_survivors(processes, "b2", clock);
  INFO(algorithm << (freezes ? ", frozen: " : ", killed: ") << ends.text);
  CHECK(*std::max_element(ends.seconds.begin(), ends.seconds.end()) <=
        std::chrono::duration<double>(silent + 1s).count());
  CHECK(ends.failures >= 6);  // the threads of alpha-0, alpha-1 and b1, and reports of hosts
  CHECK(ends.named == ends.failures);
  CHECK_THAT(ends.text, Catch::Contains(freezes ? "frozen: " : paths::process_ended));
}

TEST_CASE("liveness: every error names a host that never comes, also without a connection to it") {
  const std::string absent = GENERATE("beta-gate", "b2", "alpha-0");
  const std::string algorithm = GENERATE("conditional", "magpie", "sequential");
  const Sim sim(config("tcp", false, algorithm, "2s", ""));
  const Stopwatch clock;
  auto processes = start_hosts(sim, go_on, {}, {}, absent);
  const Survivors ends = await_survivors(processes, absent, clock);
  INFO(absent << " is absent, " << algorithm << ": " << ends.text);
  CHECK(ends.failures >= static_cast<int>(processes.size()));
  CHECK(ends.named == ends.failures);
  // The deadline, one second, and the start of the processes.
  CHECK(*std::max_element(ends.seconds.begin(), ends.seconds.end()) <= 5.0);
}

TEST_CASE("liveness: a host that is stopped for less than the silence stays in the run") {
  const bool has_memory = GENERATE(true, false);
  const Sim sim(
      config("tcp", has_memory, "sequential", "60s", ", liveness: {beat: 100ms, silent: 3s}"));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    for (int round = 0; round < 1500; ++round) {
      thread.path("sum").move_value(1.0);
      if (round == 5) say("is at work");
      thread.sleep_for(1ms);
    }
  });
  HostProcess& victim = processes.at("b1");
  REQUIRE(victim.says("is at work"));
  victim.signal_it(SIGSTOP);
  pause(1s);
  victim.signal_it(SIGCONT);
  check_all_end_well(processes);
}

TEST_CASE("liveness: with a short deadline the survivors of a frozen host end soon after it") {
  const Sim sim(config("tcp", false, "sequential", "3s", ""));
  auto processes = start_hosts(sim, go_on);
  for (auto& [name, process] : processes)
    if (name != "beta-gate") REQUIRE(process.says("is at work"));
  const Stopwatch clock;
  processes.at("b1").signal_it(SIGSTOP);
  const Survivors ends = await_survivors(processes, "b1", clock);
  INFO(ends.text);
  CHECK(ends.named == ends.failures);
  // At most a deadline of 3 s, one second until the errors arrive, and one second to close
  // connections.
  CHECK(*std::max_element(ends.seconds.begin(), ends.seconds.end()) <= 5.0);
}

TEST_CASE("liveness: an error names the lost host also on a host without a connection to it") {
  const int port = free_ports(3);
  const Sim sim(fmt::format(R"(
hosts:
  here: {{cluster: alpha, threads: 1, address: "tcp://127.0.0.1:{}"}}
  between: {{cluster: alpha, threads: 1, address: "tcp://127.0.0.1:{}"}}
  far: {{cluster: alpha, threads: 1, address: "tcp://127.0.0.1:{}"}}
elements:
  log: {{host: here, template: f64}}
paths:
  - {{graph: log, host: far, threads: 0,
     through: [forward: {{to: between}}, forward: {{to: here}}, store: {{element: log}}]}}
)",
                            port, port + 1, port + 2));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    for (int round = 0; thread.has_path("log"); ++round) {
      thread.path("log").move_value(1.0);
      if (round == 5) say("is at work");
      thread.sleep_for(1ms);
    }
    thread.sleep_for(thread.host().name() == "here" ? 3s : 4s);
    throw std::runtime_error("an error of its own");
  });
  REQUIRE(processes.at("far").says("is at work"));
  kill_host(processes, "far");
  HostProcess& here = processes.at("here");
  CHECK(here.end() == 1);
  INFO(here.text());
  CHECK_THAT(here.line("failed: thread "),
             Catch::Contains("an error of its own; host far is gone: ") &&
                 Catch::Contains(paths::process_ended) && Catch::EndsWith(" (says between)"));
}
