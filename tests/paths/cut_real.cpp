// SPDX-License-Identifier: Apache-2.0
// tests/paths/cut_real.cpp — loss of a host's connections while threads of other hosts send.
#include <catch2/catch.hpp>
#include <string>

#include "runtime/random.hpp"
#include "tests/support/mortal_hosts.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

/// Config in which threads of `far-0` and `far-1` join on host `middle`. That host forwards the
/// value to `here`.
const char* const tree = R"(
hosts:
  here: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:1"}
  middle: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:2"}
  far-0: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:3"}
  far-1: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:4"}
elements: {result: {host: here, template: f64, keep_newest: 1}}
wrappers:
  near: {host: middle, kind: allreduce, operation: sum, template: f64}
  top: {host: here, kind: allreduce, operation: sum, template: f64}
paths:
  - {graph: sum, host: here, threads: 0-1, through: [top, store: {element: result}]}
  - {graph: sum, host: middle, threads: 0-1, through: [
      near, forward: {to: here}, top, store: {element: result}]}
  - {graph: sum, host: far-0, threads: 0-1, through: [
      forward: {to: middle}, near, forward: {to: here}, top, store: {element: result}]}
  - {graph: sum, host: far-1, threads: 0-1, through: [
      forward: {to: middle}, near, forward: {to: here}, top, store: {element: result}]}
deadline: 20s
)";

}  // namespace

TEST_CASE("cut: a host that is lost during standing calls is named in the error of each thread") {
  const Sim sim(tree);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    runtime::Random random(seed);
    const auto victim = static_cast<std::uint32_t>(random.below(sim.plan().hosts.size()));
    const std::string& name = sim.plan().hosts[victim].name;
    const std::uint64_t after = random.below(400);
    INFO("seed " << seed << ", host " << name);
    const auto endless = [](paths::Thread& thread) {
      for (;;) thread.path("sum").move_value(1.0);
    };
    MortalHosts hosts(sim, endless, runtime::ClockKind::steady);
    const auto ended = hosts.run([&] {
      while (hosts.short_frames() < after) hosts.runtime().sleep_for(100us);
      hosts.cut(victim);
    });
    CHECK(ended.size() == 4);
    for (const auto& [host, errors] : ended) {
      CHECK(errors.size() == 2);
      for (const std::string& error : errors) {
        INFO("a thread of " << host);
        CHECK(error != "");
        if (host != name) CHECK_THAT(error, Catch::Contains(name));
      }
    }
  }
}
