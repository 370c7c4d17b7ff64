// SPDX-License-Identifier: Apache-2.0
// tests/paths/transport_faulty_test.cpp — runs with late frames, cut connections and duplicated
// frames.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/host/thread.hpp"
#include "tests/support/faulty_transport.hpp"
#include "tests/support/mortal_hosts.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;
using namespace std::chrono_literals;

constexpr int rounds = 40;

struct Reduced {
  std::vector<std::vector<double>> sums;  // indexed by host
  std::vector<std::string> errors;
  int delays = 0, cuts = 0, duplicates = 0;
};

/// Runs `use` on each host of the config, in a thread and over a faulty transport, on the virtual
/// clock. Returns the number of faults.
Reduced run_over(const Sim& sim, const Faults& faults, const std::function<void(Host&)>& use) {
  Reduced outcome;
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time, .stack_bytes = 64 * 1024});
  FaultyNetwork network(runtime, sim.plan().hosts.size(), faults);
  runtime.run([&] {
    run_hosts(
        runtime, sim, [&](std::uint32_t host) { return network.transport(host); }, use);
  });
  outcome.delays = network.delays;
  outcome.cuts = network.cuts;
  outcome.duplicates = network.duplicates;
  return outcome;
}

/// Runs three hosts that reduce, and returns their results.
Reduced reduce_over(const Faults& faults) {
  const Sim sim(R"(
clusters: {alpha: {hosts: 3, threads: 1}}
collectives: {sum: {operation: sum, template: f64}}
)");
  std::vector<std::vector<double>> sums(3);
  std::vector<std::string> errors(3);
  Reduced outcome = run_over(sim, faults, [&](Host& host) {
    Thread thread(host.deployment(), 0, 1);
    try {
      for (int i = 0; i < rounds; ++i)
        sums[host.index()].push_back(thread.path("sum").move_value(1.0 + i).payload.read<double>());
    } catch (const TravelError& error) {
      errors[host.index()] = error.what();
      thread.fail(error);
    }
  });
  outcome.sums = std::move(sums);
  outcome.errors = std::move(errors);
  return outcome;
}

/// Returns whether a frame belongs to a handshake. The tests of this file spare handshakes, so that
/// all hosts connect.
bool is_handshake(const Frame& frame) {
  return frame.kind == FrameKind::hello || frame.kind == FrameKind::welcome ||
         frame.kind == FrameKind::refuse || frame.kind == FrameKind::goodbye;
}

}  // namespace

TEST_CASE("faulty transport: late frames change no result") {
  Faults faults;
  faults.delays = 0.3;
  faults.seed = GENERATE(range(1, 31));
  INFO("seed " << faults.seed);
  const Reduced outcome = reduce_over(faults);
  CHECK(outcome.delays > 0);
  for (const auto& sums : outcome.sums) {
    REQUIRE(sums.size() == rounds);
    for (int i = 0; i < rounds; ++i) CHECK(sums[i] == 3 * (1.0 + i));
  }
}

TEST_CASE("faulty transport: a duplicated frame is refused with an error and no host hangs") {
  Faults faults;
  faults.duplicates = 0.02;
  faults.seed = GENERATE(range(1, 21));
  INFO("seed " << faults.seed);
  faults.spares = [](const Frame& frame) { return is_handshake(frame) || is_control(frame.kind); };
  const Reduced outcome = reduce_over(faults);
  int wrong = 0;
  for (std::size_t host = 0; host < outcome.sums.size(); ++host) {
    for (std::size_t i = 0; i < outcome.sums[host].size(); ++i)
      wrong += outcome.sums[host][i] == 3 * (1.0 + static_cast<double>(i)) ? 0 : 1;
    if (outcome.sums[host].size() < rounds) CHECK_FALSE(outcome.errors[host].empty());
  }
  CHECK(wrong == 0);
}

TEST_CASE(
    "faulty transport: a host that depends on a cut connection gets an error and no host hangs") {
  Faults faults;
  faults.cuts = 0.01;
  faults.delays = 0.1;
  faults.spares = is_handshake;
  faults.seed = GENERATE(range(1, 31));
  INFO("seed " << faults.seed);
  const Reduced outcome = reduce_over(faults);
  for (std::size_t host = 0; host < outcome.sums.size(); ++host) {
    for (std::size_t i = 0; i < outcome.sums[host].size(); ++i)
      CHECK(outcome.sums[host][i] == 3 * (1.0 + static_cast<double>(i)));
    if (outcome.sums[host].size() < rounds) {
      CHECK(outcome.cuts > 0);
      CHECK_FALSE(outcome.errors[host].empty());
    }
  }
}

TEST_CASE("faulty transport: frames of an earlier deployment of a label do not reach a later one") {
  constexpr std::uint32_t host_count = 4;
  constexpr int calls = 40;
  Faults faults;
  faults.delays = 0.05;
  faults.longest_delay = 150ms;  // three times the deadline
  faults.seed = GENERATE(range(1, 31));
  INFO("seed " << faults.seed);
  const auto config = [&](const char* deadline) {
    return fmt::format(
        "deadline: {}\nclusters: {{alpha: {{hosts: {}, threads: 1}}}}\n"
        "collectives: {{sum: {{operation: sum, template: f64}}}}\n",
        deadline, host_count);
  };
  const Sim sim(config("600s")), again(config("50ms"));
  int worked = 0, failed = 0, wrong = 0;
  const Reduced outcome = run_over(sim, faults, [&](Host& host) {
    runtime::Random random(faults.seed, host.index());
    Thread thread(host.deployment(), 0, 1);
    for (int call = 0; call < calls; ++call) {
      if (random.chance(0.05)) continue;  // this host skips the deployment
      try {
        const auto deployment = host.deploy("again", again.shared_plan());
        const auto number = static_cast<double>(deployment->number());
        try {
          Thread member(*deployment, 0, 1);
          for (int round = 0; round < 3; ++round) {
            if (random.chance(0.05)) {
              member.fail("as the test wants it");
              break;
            }
            const double sum =
                member.path("sum").move_value(1000 * number + round).payload.read<double>();
            ++worked;
            wrong += sum == host_count * (1000 * number + round) ? 0 : 1;
          }
        } catch (const TravelError&) {
          ++failed;
        }
        deployment->finish();
      } catch (const TravelError&) {
        ++failed;
      }
    }
    // No host joins a deployment after this line.
    thread.path("sum").move_value(1.0);
  });
  CHECK(outcome.delays > 0);
  CHECK(worked > calls / 2);
  CHECK(failed > 0);
  CHECK(wrong == 0);
}
