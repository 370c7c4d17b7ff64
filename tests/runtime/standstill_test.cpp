// SPDX-License-Identifier: Apache-2.0
// tests/runtime/standstill_test.cpp — virtual time that does not advance, and similar runs that are
// correct.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/runtime/contexts.hpp"
#include "tests/support/thrown.hpp"

using namespace std::chrono_literals;
using namespace runtime;
using namespace test_support;

namespace {

/// Lets contexts run in turn: each waits until the context before it has run.
struct SequenceQueue {
  Mutex mutex;
  WaitList waiting;
  std::uint64_t turn = 0;

  void take(std::uint64_t mine, std::uint64_t players) {
    DeferredWakes wakes;
    Lock lock(mutex);
    while (turn % players != mine) waiting.wait(lock, Deadline::never(), {"its turn", "t", mine});
    ++turn;
    waiting.wake_all(wakes);
  }
};

std::string report_of(Runtime& runtime, const std::function<void()>& main) {
  return thrown<Deadlock>([&] { runtime.run(main); });
}

}  // namespace

TEST_CASE("standstill: services that run a million times without time passing are a deadlock") {
  Runtime runtime({.clock = ClockKind::virtual_time});
  SequenceQueue turns;
  int unwound = 0;
  const std::string report = report_of(runtime, [&] {
    runtime.sleep_for(3ms);
    std::vector<Task> tasks;
    for (std::uint64_t mine : {0u, 1u})
      tasks.push_back(runtime.spawn(ContextRole::service, {"push", "alpha-0", mine}, [&, mine] {
        const CountEnd counter{unwound};
        for (;;) turns.take(mine, 2);
      }));
    for (auto& task : tasks) task.join();
  });
  CHECK_THAT(report,
             Catch::StartsWith("deadlock at 3ms: time stands still, though contexts ran 1000"));
  CHECK_THAT(report, Catch::Contains("\n  push alpha-0/0: 500"));
  CHECK_THAT(report, Catch::Contains("\n  push alpha-0/1: 500"));
  CHECK(unwound == 2);
}

// The thread sanitizer needs too much memory for tens of thousands of contexts.
TEST_CASE("standstill: each of many contexts may run a few times without time passing",
          "[without_tsan]") {
  constexpr std::uint64_t contexts = 75'000, times = 15;
  Runtime runtime({.clock = ClockKind::virtual_time, .stack_bytes = 32 * 1024});
  Mutex mutex;
  WaitList waiting;
  std::uint64_t ran = 0;
  const std::string report = report_of(runtime, [&] {
    std::vector<Task> tasks;
    for (std::uint64_t i = 0; i < contexts; ++i)
      tasks.push_back(runtime.spawn(ContextRole::service, {"service", "alpha-0", i}, [&] {
        for (std::uint64_t time = 0; time < times; ++time) {
          Lock lock(mutex);
          waiting.wait(lock, Deadline::never(), {"the next time"});
          ++ran;
        }
      }));
    runtime.sleep_for(1ms);
    auto waker = runtime.spawn(ContextRole::service, {"waker"}, [&] {
      while (ran < contexts * times) {
        DeferredWakes wakes;
        Lock lock(mutex);
        waiting.wake_all(wakes);
        lock.unlock();
        runtime.spawn(ContextRole::service, {"pause"}, [] {}).join();
      }
    });
    waker.join();
    CHECK(runtime.now() == 1ms);
  });
  CHECK(report == "nothing");
  CHECK(ran == contexts * times);
}

TEST_CASE("standstill: threads may do many rounds that take no time") {
  Runtime runtime({.clock = ClockKind::virtual_time});
  SequenceQueue turns;
  constexpr std::uint64_t rounds = 700'000;
  const std::string report = report_of(runtime, [&] {
    std::vector<Task> tasks;
    for (std::uint64_t mine : {0u, 1u})
      tasks.push_back(runtime.spawn(ContextRole::thread, {"thread", "alpha-0", mine}, [&, mine] {
        for (std::uint64_t round = 0; round < rounds; ++round) turns.take(mine, 2);
      }));
    for (auto& task : tasks) task.join();
  });
  CHECK(report == "nothing");
  CHECK(turns.turn == 2 * rounds);
}

TEST_CASE("standstill: runs before time passed no longer count") {
  Runtime runtime({.clock = ClockKind::virtual_time});
  SequenceQueue turns;
  const std::string report = report_of(runtime, [&] {
    std::vector<Task> tasks;
    for (std::uint64_t mine : {0u, 1u})
      tasks.push_back(runtime.spawn(ContextRole::service, {"push", "alpha-0", mine}, [&, mine] {
        for (std::uint64_t round = 0; round < 600'000; ++round) {
          turns.take(mine, 2);
          if (round % 100'000 == 0) runtime.sleep_for(1ns);
        }
      }));
    for (auto& task : tasks) task.join();
  });
  CHECK(report == "nothing");
}
