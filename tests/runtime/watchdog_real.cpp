// SPDX-License-Identifier: Apache-2.0
// tests/runtime/watchdog_real.cpp — watchdog reports about runs without progress.
#include <sys/timerfd.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "base/descriptor.hpp"
#include "runtime/runtime.hpp"
#include "runtime/scheduler/watchdog.hpp"
#include "tests/runtime/contexts.hpp"
#include "tests/support/as_child.hpp"
#include "tests/support/clocks.hpp"

#ifndef PATHS_TSAN  // the thread sanitizer delivers signals too late
using namespace std::chrono_literals;
using namespace runtime;
using namespace test_support;

namespace {

constexpr auto patience = 50ms, much_longer = 600ms;

using RealClock = std::chrono::steady_clock;  // tidy: real time

/// Runs `work` in a child process while another context waits forever. The reason of this wait has
/// the text "what never happens".
template <class Work>
Said watched(const std::string& name, const Work& work) {
  return as_child(name, [&] {
    watch_virtual_runs(patience);
    Mutex mutex;
    WaitList never;
    on_virtual_clock([&](Runtime& runtime) {
      const Task waits = runtime.spawn(ContextRole::service, {"waits", "beta-1", 2}, [&] {
        Lock lock(mutex);
        never.wait(lock, Deadline::never(), {"what never happens", "here", 9});
      });
      Task works = runtime.spawn(ContextRole::thread, named(1), [&] { work(runtime); });
      works.join();
    });
  });
}

}  // namespace

TEST_CASE("watchdog: a context that computes without a wait is reported with all contexts") {
  const auto said = watched("computes", [](Runtime&) {
    const auto end = RealClock::now() + much_longer;
    while (RealClock::now() < end) continue;
  });
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Catch::Contains("watchdog: for ") && Catch::Contains(" ms of real time, "));
  CHECK_THAT(said.text,
             Catch::Contains("one context computed without a wait: contexts ran 0 times"));
  CHECK_THAT(said.text, Catch::Contains("\n  thread alpha-0/1 runs\n"));
  CHECK_THAT(said.text,
             Catch::Contains("\n  waits beta-1/2 waits for what never happens here 9\n"));
  CHECK_THAT(said.text, Catch::Contains("\n  main waits for the end of a task\n"));
  CHECK_THAT(said.text, Catch::Contains("  the stack of the OS thread:\n"));
}

TEST_CASE("watchdog: an OS thread that sleeps in the kernel is reported as such") {
  const auto said = watched("sleeps", [](Runtime&) {
    const base::Descriptor timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
    const itimerspec once{{}, {0, std::chrono::nanoseconds(much_longer).count()}};
    timerfd_settime(timer.get(), 0, &once, nullptr);
    std::uint64_t times = 0;
    [[maybe_unused]] const auto bytes = read(timer.get(), &times, sizeof times);
  });
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Catch::Contains("the OS thread slept in the kernel, or had no processor: "
                                        "contexts ran 0 times"));
  CHECK_THAT(said.text, Catch::Contains("\n  thread alpha-0/1 runs\n"));
}

TEST_CASE("watchdog: contexts that run while virtual time stands still are reported as such") {
  const auto said = watched("stands still", [](Runtime& runtime) {
    const auto end = RealClock::now() + much_longer;
    while (RealClock::now() < end)
      for (int i = 0; i < 10; ++i) runtime.spawn(ContextRole::thread, named(3), [] {}).join();
  });
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Catch::Contains("contexts ran while virtual time stood still: "));
}

TEST_CASE("watchdog: a run whose virtual time passes without an end is reported but rarely") {
  const auto said = watched("passes", [](Runtime& runtime) {
    const auto end = RealClock::now() + 3 * much_longer;
    while (RealClock::now() < end) runtime.sleep_for(1ms);
  });
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Catch::Contains("virtual time passed without an end of the run") &&
                            Catch::Contains("real time of the run "));
}
#endif
