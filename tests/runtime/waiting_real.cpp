// SPDX-License-Identifier: Apache-2.0
// tests/runtime/waiting_real.cpp — OS threads that poll before they sleep, or only sleep.
#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

#include "runtime/completion.hpp"
#include "runtime/polling/busy_poll_scope.hpp"
#include "runtime/polling/moment.hpp"
#include "runtime/polling/poller.hpp"
#include "runtime/runtime.hpp"
#include "tests/runtime/contexts.hpp"
#include "tests/support/clocks.hpp"

using namespace std::chrono_literals;
using namespace runtime;
using namespace test_support;

namespace {

/// A barrier: each thread waits until the last thread has arrived.
class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void meet() {
    DeferredWakes wakes;
    Lock lock(mutex_);
    const std::uint64_t round = round_;
    if (++here_ == threads_) {
      here_ = 0;
      ++round_;
      waiting_.wake_all(wakes);
      return;
    }
    while (round_ == round) waiting_.wait(lock, Deadline::never(), {"the last", "meeting", round});
  }
  std::uint64_t rounds() {
    Lock lock(mutex_);
    return round_;
  }

 private:
  const int threads_;
  Mutex mutex_;
  WaitList waiting_;
  int here_ = 0;
  std::uint64_t round_ = 0;
};

/// Counts the polls of one thread.
class Counted final : public Poller {
 public:
  void begin_polling() override { here += watched; }
  bool poll() override {
    looks += watched;
    return false;
  }
  void end_polling() override { here -= watched; }
  void watch_caller() { watched = 1; }
  std::atomic<int> here{0}, looks{0};

 private:
  static thread_local int watched;
};
thread_local int Counted::watched = 0;

[[maybe_unused]] Nanos processor_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto nanos = [](const timeval& time) { return time.tv_sec * 1s + time.tv_usec * 1us; };
  return nanos(used.ru_utime) + nanos(used.ru_stime);
}

template <class Body>
void in_either_way(Body&& body) {
  for (const Waiting waiting : {Waiting::adaptive, Waiting::sleep}) {
    INFO((waiting == Waiting::sleep ? "sleep" : "adaptive"));
    Runtime runtime({.waiting = waiting});
    runtime.run([&] { body(runtime); });
  }
}

}  // namespace

TEST_CASE("waiting: no wake-up between threads is lost with any number of threads per core") {
  const int threads = GENERATE(2, 3, 16);
  in_either_way([&](Runtime& runtime) {
    constexpr int rounds = 2000;
    Meeting meeting(threads);
    in_threads(runtime, threads, [&](int) {
      for (int round = 0; round < rounds; ++round) meeting.meet();
    });
    CHECK(meeting.rounds() == rounds);
  });
}

TEST_CASE("waiting: a cancelled waiter leaves and the other waiters stay") {
  in_either_way([](Runtime& runtime) {
    Meeting meeting(3);
    std::vector<Task> tasks;
    for (int i = 0; i < 2; ++i)
      tasks.push_back(runtime.spawn(ContextRole::thread, named(2), [&] { meeting.meet(); }));
    Task cancelled = runtime.spawn(ContextRole::thread, named(3), [&] {
      Mutex mutex;
      WaitList list;
      Lock lock(mutex);
      list.wait(lock, Deadline::never(), {"nobody"});
    });
    runtime.sleep_for(2ms);
    cancelled.cancel();
    cancelled.join();
    CHECK(cancelled.done());
    CHECK_FALSE(tasks[0].done());
    meeting.meet();
    for (auto& task : tasks) task.join();
  });
}

TEST_CASE("waiting: a thread that is cancelled at any time ends") {
  in_either_way([](Runtime& runtime) {
    for (int i = 0; i < 300; ++i) {
      std::atomic<bool> began{false};
      Mutex mutex;
      WaitList list;
      Task task = runtime.spawn(ContextRole::thread, named(4), [&] {
        Lock lock(mutex);
        began = true;
        list.wait(lock, Deadline::never(), {"a cancel"});
      });
      while (!began) runtime.sleep_for(1us);
      if (i % 3 != 0) runtime.sleep_for(i * 1us);
      task.cancel();
      task.join();
      CHECK(task.done());
    }
  });
}

TEST_CASE("waiting: a passed deadline removes one waiter from the list and keeps the others") {
  in_either_way([](Runtime& runtime) {
    Mutex mutex;
    WaitList list;
    bool open = false;
    std::atomic<int> notified{0}, expired{0};
    std::vector<Task> tasks;
    for (const bool is_patient : {true, false, true})
      tasks.push_back(runtime.spawn(ContextRole::thread, named(5), [&, is_patient] {
        const Deadline deadline =
            is_patient ? Deadline::never() : Deadline::default_at(runtime.now() + 2ms);
        Lock lock(mutex);
        while (!open) {
          if (list.wait(lock, deadline, {"the opening"}) == Woken::notified) continue;
          ++expired;
          return;
        }
        ++notified;
      }));
    tasks[1].join();
    CHECK(expired == 1);
    {
      DeferredWakes wakes;
      Lock lock(mutex);
      open = true;
      list.wake_all(wakes);
    }
    for (auto& task : tasks) task.join();
    CHECK(notified == 2);
  });
}

#if !defined(PATHS_TSAN) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("waiting: threads that wait for a late one use little processor time") {
  const int threads = GENERATE(2, 8);
  in_either_way([&](Runtime& runtime) {
    constexpr int rounds = 50;
    Meeting meeting(threads);
    std::vector<Task> tasks;
    const Nanos began = runtime.now(), used = processor_time();
    for (int i = 0; i < threads; ++i)
      tasks.push_back(runtime.spawn(ContextRole::thread, named(6), [&, i] {
        for (int round = 0; round < rounds; ++round) {
          if (i == 0) runtime.sleep_for(10ms);
          meeting.meet();
        }
      }));
    for (auto& task : tasks) task.join();
    // The bound of 5 % is generous, because other tests run at the same time. Without the polling
    // history, threads use 20 % and more of the time.
    CHECK((processor_time() - used) * 20 < runtime.now() - began);
  });
}
#endif

TEST_CASE(
    "waiting: a thread in a busy-poll scope polls between waits and other threads while they "
    "wait") {
  for (const Waiting waiting : {Waiting::adaptive, Waiting::sleep}) {
    const int while_attentive = waiting == Waiting::adaptive ? 1 : 0;
    Runtime runtime({.waiting = waiting});
    runtime.run([&] {
      Counted poller;
      runtime.add_poller(poller);
      Task thread = runtime.spawn(ContextRole::thread, named(0), [&] {
        poller.watch_caller();
        {
          const BusyPollScope attention;
          CHECK(poller.here == while_attentive);
          const BusyPollScope again;
          CHECK(poller.here == while_attentive);
        }
        CHECK(poller.here == 0);
        runtime.sleep_until(runtime.now() + 1ms);
        CHECK(poller.here == 0);
      });
      thread.join();
      runtime.remove_poller(poller);
    });
  }
}

TEST_CASE(
    "waiting: a sleeping thread does not poll even in a busy-poll scope and polls in its next "
    "wait") {
  Runtime runtime({.waiting = Waiting::adaptive});
  runtime.run([&] {
    Counted poller;
    runtime.add_poller(poller);
    Completion first, second;
    Task sleeper = runtime.spawn(ContextRole::thread, named(0), [&] {
      poller.watch_caller();
      const BusyPollScope attention;
      first.wait(Deadline::never(), {"the first"});
      const int looks = poller.looks;
      second.wait(Deadline::written_at(runtime.now() + 20ms), {"the second"});
      CHECK(poller.looks > looks);
    });
    while (poller.looks == 0) runtime.sleep_until(runtime.now() + 1ms);
    while (poller.here > 0) runtime.sleep_until(runtime.now() + 1ms);
    first.complete();
    sleeper.join();
    CHECK(poller.here == 0);
    runtime.remove_poller(poller);
  });
}

TEST_CASE("mutex: only one thread holds it at a time and all get it even if it is held long") {
  const int threads = GENERATE(2, 16);
  in_either_way([&](Runtime& runtime) {
    constexpr int rounds = 3000;
    Mutex mutex;
    std::uint64_t entered = 0;
    in_threads(runtime, threads, [&](int) {
      for (int round = 0; round < rounds; ++round) {
        const Lock lock(mutex);
        const std::uint64_t before = entered;
        if (round % 500 == 0) for_a_moment([] { return true; });
        entered = before + 1;
      }
    });
    CHECK(entered == std::uint64_t{rounds} * static_cast<std::uint64_t>(threads));
  });
}
