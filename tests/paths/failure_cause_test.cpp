// SPDX-License-Identifier: Apache-2.0
// tests/paths/failure_cause_test.cpp — the cause of a failure, which a program can read without
// parsing the text of the error.
#include <catch2/catch.hpp>
#include <functional>
#include <optional>

#include "tests/support/mortal_hosts.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using paths::FailureCause;

/// Returns the cause of the failure that `work` throws; nullopt = none.
template <class Work>
std::optional<FailureCause> thrown_cause(const Work& work) {
  try {
    work();
  } catch (const paths::TravelError& error) {
    return error.cause();
  }
  return std::nullopt;
}

/// Returns the cause of the error that rank 0 gets when rank 1, on another host, calls `fail`
/// instead of contributing; nullopt = no error.
std::optional<FailureCause> cause_of(const std::function<void(paths::Thread&)>& fail,
                                     runtime::ClockKind clock = runtime::ClockKind::virtual_time) {
  const Sim sim(R"(
clusters:
  alpha: {hosts: 1, threads: 1}
  beta: {hosts: 1, threads: 1}
links: [{between: [alpha, beta], latency: 1ms}]
collectives:
  sum: {operation: sum, template: f64, contributions: non_negative}
deadline: 500ms
)");
  std::optional<FailureCause> told;
  sim.run(
      [&](paths::Thread& thread) {
        if (thread.rank() == 1) return fail(thread);
        told = thrown_cause([&] { thread.path("sum").move_value(1.0); });
      },
      clock);
  return told;
}

}  // namespace

TEST_CASE("failure cause: the error of a round has the cause that ended it") {
  const auto clock = GENERATE(runtime::ClockKind::virtual_time, runtime::ClockKind::steady);
  CHECK(cause_of([](paths::Thread& thread) { thread.path("sum").move_value(1.0); }, clock) ==
        std::nullopt);
  CHECK(cause_of([](paths::Thread&) { throw std::runtime_error("it broke"); }, clock) ==
        FailureCause::application);
  CHECK(cause_of([](paths::Thread&) {}, clock) == FailureCause::released);
  CHECK(cause_of(
            [](paths::Thread& thread) {
              CHECK(thrown_cause([&] { thread.path("sum").move_value(-1.0); }) ==
                    FailureCause::refused_value);
            },
            clock) == FailureCause::refused_value);
  CHECK(cause_of([](paths::Thread& thread) { thread.host().deployment().runtime().sleep_for(2s); },
                 clock) == FailureCause::deadline);
}

TEST_CASE("failure cause: a late read of an element has the cause deadline") {
  const Sim sim(R"(
clusters:
  alpha: {hosts: 1, threads: 1}
  beta: {hosts: 1, threads: 1}
links: [{between: [alpha, beta], latency: 1ms}]
elements: {word: {host: alpha-0, template: f64, reach: all}}
deadline: 100ms
)");
  std::vector<std::optional<FailureCause>> told(2);
  sim.run([&](paths::Thread& thread) {
    told[thread.rank()] = thrown_cause([&] { thread.path("word").observe(); });
  });
  CHECK(told == std::vector<std::optional<FailureCause>>(2, FailureCause::deadline));
}

TEST_CASE("failure cause: the death of a host has the cause peer_gone on all others") {
  const Sim sim(R"(
clusters:
  alpha: {hosts: 2, threads: 1}
  beta: {hosts: 2, threads: 1}
links: [{between: [alpha, beta], latency: 1ms}]
collectives:
  sum: {operation: sum, template: f64}
)");
  std::vector<std::optional<FailureCause>> told(4);
  MortalHosts hosts(sim, [&](paths::Thread& thread) {
    for (;;) {
      thread.sleep_for(2ms);
      try {
        thread.path("sum").move_value(1.0);
      } catch (const paths::TravelError& error) {
        told[thread.rank()] = error.cause();
        throw;
      }
    }
  });
  hosts.run([&] {
    hosts.runtime().sleep_until(51ms);
    hosts.kill(3);
  });
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    INFO(rank);
    CHECK(told[rank] == FailureCause::peer_gone);
  }
}
