// SPDX-License-Identifier: Apache-2.0
// tests/paths/transport_faulty_test.cpp — a run whose frames are late, whose connections are cut,
// whose frames come twice.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paths/host/host.hpp"
#include "paths/host/thread.hpp"
#include "tests/support/faulty_transport.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;

constexpr int rounds = 40;

struct Reduced {
  std::vector<std::vector<double>> sums;  // by host
  std::vector<std::string> errors;
  int delays = 0, cuts = 0, duplicates = 0;
};

/// A thread for each host of the config, over such a transport on the virtual clock; what there
/// was of faults.
Reduced run_over(const Sim& sim, const Faults& faults, const std::function<void(Host&)>& use) {
  const std::size_t count = sim.plan().hosts.size();
  Reduced outcome;
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time, .stack_bytes = 64 * 1024});
  LocalNetwork network(count);
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<FaultyTransport*> transports;
  runtime.run([&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      Faults own = faults;
      own.seed = faults.seed * 100 + i;
      auto transport = std::make_unique<FaultyTransport>(runtime, network.transport(i), own);
      transports.push_back(transport.get());
      hosts.push_back(
          std::make_unique<Host>(runtime, sim.shared_plan(), i, sim.kinds(), std::move(transport)));
    }
    for (auto& host : hosts) host->start();
    std::vector<runtime::Task> running;
    for (auto& host : hosts)
      running.push_back(
          runtime.spawn(runtime::ContextRole::thread, {"host", host->name()}, [&, host = &*host] {
            use(*host);
            host->finish();
          }));
    for (auto& one : running) one.join();
    for (const FaultyTransport* transport : transports) {
      outcome.delays += transport->delays;
      outcome.cuts += transport->cuts;
      outcome.duplicates += transport->duplicates;
    }
  });
  return outcome;
}

/// Three hosts that reduce, and what they got.
Reduced reduce_over(const Faults& faults) {
  const Sim sim(R"(
clusters: {alpha: {hosts: 3, threads: 1}}
collectives: {sum: {operation: sum, template: f64}}
)");
  std::vector<std::vector<double>> sums(3);
  std::vector<std::string> errors(3);
  Reduced outcome = run_over(sim, faults, [&](Host& host) {
    Thread thread(host.wiring(), 0, 1);
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

/// The run's own frames: hosts that never met would be another test.
bool is_handshake(const Frame& frame) {
  return frame.kind == FrameKind::hello || frame.kind == FrameKind::welcome ||
         frame.kind == FrameKind::refuse || frame.kind == FrameKind::goodbye;
}

}  // namespace

TEST_CASE("faulty transport: late frames change no result") {
  Faults faults;
  faults.delays = 0.3;
  faults.seed = GENERATE(range(1, 11));
  INFO("seed " << faults.seed);
  const Reduced outcome = reduce_over(faults);
  CHECK(outcome.delays > 0);
  for (const auto& sums : outcome.sums) {
    REQUIRE(sums.size() == rounds);
    for (int i = 0; i < rounds; ++i) CHECK(sums[i] == 3 * (1.0 + i));
  }
}

TEST_CASE("faulty transport: a frame that comes twice is refused in words, and nobody hangs") {
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
