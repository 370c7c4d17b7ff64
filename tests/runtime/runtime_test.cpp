// SPDX-License-Identifier: Apache-2.0
// tests/runtime/runtime_test.cpp — contexts, the two clocks, waits, cancels, deadlocks.
#include "runtime/runtime.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "tests/runtime/contexts.hpp"
#include "tests/support/clocks.hpp"

using namespace std::chrono_literals;
using namespace runtime;
using namespace test_support;

namespace {

RuntimeOptions virtual_time() { return {.clock = ClockKind::virtual_time}; }
/// A flag for which contexts wait.
struct Gate {
  Mutex mutex;
  WaitList waiting;
  bool open = false;
  Woken wait(Deadline deadline = Deadline::never()) {
    Lock lock(mutex);
    while (!open)
      if (waiting.wait(lock, deadline, {"the gate", "g", 7}) == Woken::expired)
        return Woken::expired;
    return Woken::notified;
  }
  void open_it() {
    DeferredWakes wakes;
    {
      Lock lock(mutex);
      open = true;
      waiting.wake_all(wakes);
    }
    wakes.services_first();
  }
};

}  // namespace

TEST_CASE("runtime: sleeping contexts wake exactly at their times on the virtual clock") {
  Runtime runtime(virtual_time());
  std::vector<std::pair<int, Nanos>> woken;
  runtime.run([&] {
    std::vector<Task> tasks;
    for (int i : {3, 1, 2})
      tasks.push_back(runtime.spawn(ContextRole::thread, named(1), [&, i] {
        runtime.sleep_for(i * 10ms);
        woken.emplace_back(i, runtime.now());
      }));
    for (auto& task : tasks) task.join();
  });
  const std::vector<std::pair<int, Nanos>> expected{{1, 10ms}, {2, 20ms}, {3, 30ms}};
  CHECK(woken == expected);
  CHECK(runtime.now() == 30ms);
}

TEST_CASE("runtime: each resumption of a context is an event of the virtual clock") {
  std::uint64_t before = 0, after = 0;
  on_virtual_clock([&](Runtime& runtime) {
    before = runtime.events();
    for (int i = 0; i < 5; ++i) runtime.sleep_for(1ms);
    after = runtime.events();
  });
  CHECK(after == before + 5);
}

TEST_CASE("runtime: contexts that wake at the same time run in the order of their sleeps") {
  std::string order;
  on_virtual_clock([&](Runtime& runtime) {
    std::vector<Task> tasks;
    for (char name : {'a', 'b', 'c'})
      tasks.push_back(runtime.spawn(ContextRole::thread, named(0), [&, name] {
        runtime.sleep_until(5ms);
        order += name;
      }));
    runtime.sleep_until(6ms);
  });
  CHECK(order == "abc");
}

TEST_CASE("runtime: a waiter is woken on both clocks") {
  on_both_clocks([](Runtime& runtime) {
    Gate gate;
    std::atomic<int> through{0};
    std::vector<Task> tasks;
    for (ContextRole role : {ContextRole::thread, ContextRole::service, ContextRole::thread})
      tasks.push_back(runtime.spawn(role, named(1), [&] {
        gate.wait();
        ++through;
      }));
    runtime.sleep_for(1ms);
    CHECK(through == 0);
    gate.open_it();
    for (auto& task : tasks) task.join();
    CHECK(through == 3);
  });
}

TEST_CASE("runtime: a written deadline ends a wait at its time on both clocks") {
  on_both_clocks([](Runtime& runtime) {
    Gate gate;
    const Nanos until = runtime.now() + 3ms;
    CHECK(gate.wait(Deadline::written_at(until)) == Woken::expired);
    CHECK(runtime.now() >= until);
    if (runtime.is_virtual()) CHECK(runtime.now() == until);
  });
}

TEST_CASE("runtime: a default deadline is not an event on the virtual clock") {
  Runtime runtime(virtual_time());
  CHECK_THROWS_AS(runtime.run([&] {
    Gate gate;
    gate.wait(Deadline::default_at(3ms));
  }),
                  Deadlock);
  CHECK(runtime.now() == 0ms);
}

TEST_CASE("runtime: a deadlock reports all waits and every context unwinds") {
  Runtime runtime(virtual_time());
  int unwound = 0;
  std::string report;
  Gate gate;
  try {
    runtime.run([&] {
      runtime.sleep_for(2ms);
      auto task = runtime.spawn(ContextRole::thread, {"thread", "alpha-0", 3}, [&] {
        CountEnd counter{unwound};
        gate.wait();
      });
      task.join();
    });
  } catch (const Deadlock& deadlock) {
    report = deadlock.what();
  }
  CHECK(unwound == 1);
  CHECK(report ==
        "deadlock at 2ms: no context can ever wake\n  main waits for the end of a task\n  thread "
        "alpha-0/3 waits for the gate g 7");
}

TEST_CASE("runtime: a sleep beyond the end of time is refused and not skipped") {
  on_virtual_clock([&](Runtime& runtime) {
    runtime.sleep_for(base::Nanos::max() - base::Nanos(1));
    CHECK_THROWS_WITH(runtime.sleep_for(base::Nanos(2)), Catch::Contains("the clock ends at"));
    CHECK(runtime.now() == base::Nanos::max() - base::Nanos(1));
  });
}

TEST_CASE("runtime: waiters are woken in the order of arrival") {
  std::string order;
  on_virtual_clock([&](Runtime& runtime) {
    Mutex mutex;
    WaitList list;
    std::vector<Task> tasks;
    for (char name : {'a', 'b', 'c', 'd'})
      tasks.push_back(runtime.spawn(ContextRole::thread, named(0), [&, name] {
        Lock lock(mutex);
        list.wait(lock, Deadline::never(), {"a turn"});
        order += name;
      }));
    runtime.sleep_for(1ms);
    {
      DeferredWakes wakes;
      Lock lock(mutex);
      list.wake_all(wakes);
    }
    runtime.sleep_for(1ms);
  });
  CHECK(order == "abcd");
}

TEST_CASE("runtime: services woken together with threads run first where that is guaranteed") {
  on_both_clocks([](Runtime& runtime) {
    Gate gate;
    Mutex mutex;
    std::string order;
    std::atomic<int> come = 0;
    auto say = [&](char name) {
      ++come;
      gate.wait();
      Lock lock(mutex);
      order += name;
    };
    std::vector<Task> tasks;
    tasks.push_back(runtime.spawn(ContextRole::thread, named(1), [&] { say('t'); }));
    tasks.push_back(runtime.spawn(ContextRole::service, named(2), [&] { say('s'); }));
    tasks.push_back(runtime.spawn(ContextRole::service, named(3), [&] { say('s'); }));
    while (come < 3) runtime.sleep_for(1ms);
    runtime.sleep_for(20ms);  // after 20 ms, all contexts sleep
    gate.open_it();
    for (auto& task : tasks) task.join();
    CHECK(order == "sst");
  });
}

TEST_CASE("runtime: the current wait of a cancelled context throws on both clocks") {
  on_both_clocks([](Runtime& runtime) {
    for (ContextRole role : {ContextRole::thread, ContextRole::service}) {
      Gate gate;
      std::atomic<bool> cancelled{false};
      auto task = runtime.spawn(role, named(1), [&] {
        try {
          gate.wait();
        } catch (const Cancelled&) {
          cancelled = true;
          throw;
        }
      });
      runtime.sleep_for(1ms);
      task.cancel();
      task.join();
      CHECK(cancelled);
      CHECK(gate.waiting.empty());
    }
  });
}

TEST_CASE("runtime: a cancel can carry its own exception and wakes a sleeper") {
  on_virtual_clock([&](Runtime& runtime) {
    auto task = runtime.spawn(ContextRole::service, named(1), [&] { runtime.sleep_for(1h); });
    runtime.sleep_for(1ms);
    task.cancel(std::make_exception_ptr(std::runtime_error("the host ends")));
    CHECK_THROWS_WITH(task.join(), "the host ends");
    CHECK(runtime.now() == 1ms);
  });
}

TEST_CASE("runtime: join throws the exception of the work on both clocks") {
  on_both_clocks([](Runtime& runtime) {
    for (ContextRole role : {ContextRole::thread, ContextRole::service}) {
      auto task = runtime.spawn(role, named(1), [] { throw std::runtime_error("broken"); });
      CHECK_THROWS_WITH(task.join(), "broken");
    }
  });
}

TEST_CASE("runtime: detached contexts are cancelled after main has returned") {
  Gate gate;
  bool ended = false;
  on_virtual_clock([&](Runtime& runtime) {
    Task task = runtime.spawn(ContextRole::service, named(1), [&] {
      try {
        gate.wait();
      } catch (const Cancelled&) {
        ended = true;
      }
    });
    task.detach();
    runtime.sleep_for(1ms);
  });
  CHECK(ended);
}

TEST_CASE("runtime: work from outside runs on the services' thread") {
  on_steady_clock([&](Runtime& runtime) {
    Gate gate;
    std::atomic<bool> on_services{false};
    CHECK_FALSE(runtime.on_services_thread());
    runtime.wake_from_outside([&] {
      on_services = runtime.on_services_thread();
      gate.open_it();
    });
    gate.wait();
    CHECK(on_services);
  });
}

TEST_CASE("runtime: no post from four OS threads is lost") {
  on_steady_clock([&](Runtime& runtime) {
    std::atomic<int> count{0};
    Gate gate;
    constexpr int each = 5'000;
    std::vector<Task> tasks;
    for (int i = 0; i < 4; ++i)
      tasks.push_back(runtime.spawn(ContextRole::thread, named(1), [&] {
        for (int k = 0; k < each; ++k)
          runtime.wake_from_outside([&] {
            if (++count == 4 * each) gate.open_it();
          });
      }));
    gate.wait();
    for (auto& task : tasks) task.join();
    CHECK(count == 4 * each);
  });
}

TEST_CASE("runtime: threads and services alternate without losing a wake-up") {
  on_steady_clock([&](Runtime& runtime) {
    Mutex mutex;
    WaitList list;
    int turn = 0;
    constexpr int players = 4, rounds = 400;
    std::vector<Task> tasks;
    for (int i = 0; i < players; ++i)
      tasks.push_back(
          runtime.spawn(i % 2 == 0 ? ContextRole::thread : ContextRole::service, named(1), [&, i] {
            for (int k = 0; k < rounds; ++k) {
              DeferredWakes wakes;
              Lock lock(mutex);
              while (turn % players != i) list.wait(lock, Deadline::never(), {"a turn"});
              ++turn;
              list.wake_all(wakes);
            }
          }));
    for (auto& task : tasks) task.join();
    CHECK(turn == players * rounds);
  });
}

TEST_CASE("runtime: an exception caught in one fiber does not affect other fibers") {
  int caught = 0;
  on_virtual_clock([&](Runtime& runtime) {
    std::vector<Task> tasks;
    for (int i = 0; i < 50; ++i)
      tasks.push_back(runtime.spawn(ContextRole::thread, named(1), [&, i] {
        std::array<char, 600> buffer{};
        for (int k = 0; k < 20; ++k) {
          try {
            runtime.sleep_for((i * 7 + k) * 1us);
            buffer[static_cast<std::size_t>(k)] = 'x';
            if ((i + k) % 3 == 0) throw std::runtime_error(std::string(buffer.data()));
          } catch (const std::runtime_error&) {
            runtime.sleep_for(1us);
            ++caught;
          }
        }
      }));
    runtime.sleep_for(1s);
  });
  CHECK(caught > 300);
}

TEST_CASE("random: equal seeds give equal numbers and streams differ") {
  Random a(7, 1), b(7, 1), c(7, 2);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto value = a.next();
    CHECK(value == b.next());
    differs = differs || value != c.next();
  }
  CHECK(differs);
  for (int i = 0; i < 1000; ++i) {
    CHECK(a.below(10) < 10);
    const auto between = a.between(-3, 3);
    CHECK((between >= -3 && between <= 3));
    CHECK(a.unit() < 1.0);
  }
}
