// SPDX-License-Identifier: Apache-2.0
// tests/paths/run_plan_real.cpp — runs without enough resources, and thread functions that end
// their run.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/as_child.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/sim.hpp"

using test_support::as_child;
using test_support::Sim;
using namespace std::chrono_literals;

namespace {

/// Runs a thread function on all hosts of a config, on the given clock. Returns its output and exit
/// code.
test_support::Said run(const std::string& name, const std::string& config, runtime::ClockKind clock,
                       const std::function<void(paths::Thread&)>& thread) {
  return as_child(name, [&] {
    const Sim sim(config);
    const auto result = sim.run(thread, clock);
    for (const std::string& failure : result.failures) fmt::print("failed: {}\n", failure);
    fmt::print("broke: {}\n", result.broke);
    std::fflush(stdout);
  });
}

/// Puts an array of `size` bytes on the stack. This is a separate function, so that the array is on
/// the stack only during calls.
template <std::size_t size>
[[gnu::noinline]] void fill_grid() {
  volatile double grid[size][size];
  for (auto& row : grid)
    for (auto& cell : row) cell = 1;
}

std::string one_host(int threads) {
  return fmt::format(
      "clusters:\n  alpha: {{hosts: 1, threads: {}}}\n"
      "collectives:\n  sum: {{operation: sum, template: i64}}\n",
      threads);
}

}  // namespace

TEST_CASE("run_plan: a run on the virtual clock needs no OS thread except that of its caller") {
  const std::size_t before = test_support::entries_of("task");
  std::size_t meanwhile = 0;
  Sim(one_host(3)).run_well([&](paths::Thread& thread) {
    thread.path("sum").move_value(std::int64_t{1});
    meanwhile = test_support::entries_of("task");
  });
  CHECK(meanwhile == before);
}

// Does not run under sanitizers, which map much memory of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("run_plan: a lack of memory for threads ends the run with their number on both clocks") {
  for (const auto clock : {runtime::ClockKind::steady, runtime::ClockKind::virtual_time}) {
    const bool is_steady = clock == runtime::ClockKind::steady;
    const auto said =
        run(is_steady ? "steady" : "virtual", one_host(500), clock,
            [&](paths::Thread& thread) { thread.path("sum").move_value(std::int64_t{1}); });
    const auto limited = as_child(is_steady ? "limited steady" : "limited virtual", [&] {
      const Sim sim(one_host(500));
      std::size_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      const rlim_t bytes = pages * 4096 + (200u << 20);
      const rlimit limit{bytes, bytes};
      setrlimit(RLIMIT_AS, &limit);
      const auto result = sim.run(
          [](paths::Thread& thread) { thread.path("sum").move_value(std::int64_t{1}); }, clock);
      fmt::print("broke: {}\n", result.broke);
      std::fflush(stdout);
    });
    CHECK_THAT(said.text, Catch::Contains("broke: \n"));
    CHECK(limited.exit_code == 0);
    CHECK_THAT(limited.text, Catch::Contains("broke: host alpha-0: number ") &&
                                 Catch::Contains(" of 500 threads cannot begin: cannot ") &&
                                 Catch::Contains("a stack of 8MiB") && Catch::Contains("ulimit"));
  }
}

TEST_CASE("run_plan: the report of a thread's stack overflow has the stack size of the config") {
  for (const auto clock : {runtime::ClockKind::steady, runtime::ClockKind::virtual_time}) {
    const auto said = run(clock == runtime::ClockKind::steady ? "steady" : "virtual",
                          one_host(2) + "stack: 512KiB\n", clock, [](paths::Thread& thread) {
                            if (thread.rank() == 1) fill_grid<300>();
                          });
    CHECK(said.exit_code == test_support::ended_by(SIGSEGV));
    CHECK_THAT(said.text, Catch::Contains("stack overflow of thread alpha-0/1: its stack has 512 "
                                          "KiB; option --stack, config key `stack`\n"));
  }
}
#endif

TEST_CASE("run_plan: a double grid of 200 by 200 fits on a thread's stack on both clocks") {
  for (const auto clock : {runtime::ClockKind::steady, runtime::ClockKind::virtual_time}) {
    const Sim sim(one_host(2));
    sim.run_well([](paths::Thread&) { fill_grid<200>(); }, clock);
  }
}

TEST_CASE(
    "run_plan: a thread that swallows a deadlock and continues ends the process with a message") {
  const auto said =
      run("swallows", one_host(2), runtime::ClockKind::virtual_time, [](paths::Thread& thread) {
        if (thread.rank() == 0) {  // this thread never contributes
          runtime::Mutex mutex;
          runtime::WaitList waiting;
          runtime::Lock lock(mutex);
          waiting.wait(lock, runtime::Deadline::never(), {"what never comes"});
        }
        for (;;) try {
            thread.path("sum").move_value(std::int64_t{1});
          } catch (...) {
          }
      });
  CHECK(said.exit_code == 1);
  CHECK_THAT(said.text, Catch::Contains("thread alpha-0/1 keeps waiting after it was stopped"));
  CHECK_THAT(said.text, Catch::Contains("thread alpha-0/0 waits for what never comes"));
}
