// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/emulate_link_real.cpp — order of one thread's operations over a link.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/environment.hpp"
#include "tests/support/sim.hpp"

TEST_CASE(
    "emulate_link: sent and started operations of a thread arrive in order even if all are late") {
  const test_support::Sim sim(R"(
hosts:
  here: {cluster: alpha, threads: 1, address: "tcp://127.0.0.1:1"}
  far: {cluster: beta, threads: 6, address: "tcp://127.0.0.1:2"}
elements:
  log: {host: here, template: u64, keep_newest: 1}
wrappers:
  wan: {kind: emulate_link, host: far, latency: 50us, bandwidth: 1Gbit}
paths:
  - {graph: log, host: far, threads: 0-5,
     through: [{wan: down}, forward: {to: here}, store: {element: log}]}
)");
  // The next host refuses values of another type or in another order. A run without errors
  // therefore shows that the link kept the order.
  const auto program = [](paths::Thread& thread) {
    if (!thread.has_path("log")) return;
    paths::Path& log = thread.path("log");
    for (std::uint64_t round = 0; round < test_support::or_fewer(500); ++round) {
      std::vector<paths::Started> started;
      for (std::uint64_t i = 0; i < 3; ++i) {
        log.send(base::Payload::of(i));
        started.push_back(log.start(base::Payload::of(i)));
      }
      for (paths::Started& one : started) one.wait();
    }
  };
  sim.run_well(program, runtime::ClockKind::steady);
}
