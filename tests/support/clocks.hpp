// SPDX-License-Identifier: Apache-2.0
// tests/support/clocks.hpp — test bodies on the virtual clock, the steady clock or both; a
// stopwatch.
#pragma once
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/runtime.hpp"

namespace test_support {

/// Runs `body` as the first context of a runtime on the virtual clock.
template <class Body>
void on_virtual_clock(const Body& body) {
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time});
  runtime.run([&] { body(runtime); });
}

/// Runs `body` as the first context of a runtime on the steady clock.
template <class Body>
void on_steady_clock(const Body& body) {
  runtime::Runtime runtime;
  runtime.run([&] { body(runtime); });
}

/// Calls `work(i)` for each i below `count`, each in a thread of its own. Blocks until all threads
/// have ended.
template <class Count, class Work>
void in_threads(runtime::Runtime& runtime, Count count, const Work& work) {
  std::vector<runtime::Task> tasks;
  for (Count i = 0; i < count; ++i)
    tasks.push_back(runtime.spawn(runtime::ContextRole::thread,
                                  {"thread", "t", static_cast<std::uint64_t>(i)},
                                  [&work, i] { work(i); }));
  for (runtime::Task& task : tasks) task.join();
}

/// Measures real time since its construction, without a Runtime. A Runtime starts a thread, and
/// under the address sanitizer a process that is forked from a process with threads can hang.
class Stopwatch {
  using Clock = std::chrono::steady_clock;  // tidy: real time

 public:
  base::Nanos now() const { return Clock::now() - begin_; }

 private:
  Clock::time_point begin_ = Clock::now();
};

/// Sleeps for `span` of real time. The caller needs no runtime.
inline void pause(base::Nanos span) {
  on_steady_clock([&](runtime::Runtime& clock) { clock.sleep_for(span); });
}

/// Calls `body` twice: with the virtual clock and with the steady clock.
template <class Body>
void with_both_clocks(const Body& body) {
  for (const auto clock : {runtime::ClockKind::virtual_time, runtime::ClockKind::steady}) {
    INFO((clock == runtime::ClockKind::steady ? "steady" : "virtual"));
    body(clock);
  }
}

/// Runs `body` as the first context of a runtime, on both clocks.
template <class Body>
void on_both_clocks(const Body& body) {
  with_both_clocks([&](runtime::ClockKind clock) {
    runtime::Runtime runtime({.clock = clock});
    runtime.run([&] { body(runtime); });
  });
}

}  // namespace test_support
