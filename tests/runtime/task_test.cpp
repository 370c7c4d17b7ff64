// SPDX-License-Identifier: Apache-2.0
// tests/runtime/task_test.cpp — end of a Task: destruction, assignment, detach().
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/runtime/contexts.hpp"
#include "tests/support/as_child.hpp"
#include "tests/support/clocks.hpp"

using namespace std::chrono_literals;
using namespace runtime;
using namespace test_support;

namespace {

/// Runs `body` on both clocks, with tasks of both roles.
template <class Body>
void for_each_kind(Body&& body) {
  for (const ClockKind clock : {ClockKind::virtual_time, ClockKind::steady})
    for (const ContextRole role : {ContextRole::thread, ContextRole::service}) {
      INFO((clock == ClockKind::steady ? "steady" : "virtual"));
      INFO((role == ContextRole::thread ? "thread" : "service"));
      Runtime runtime({.clock = clock});
      runtime.run([&] { body(runtime, role); });
    }
}

/// An object that records its number when it is destroyed.
class NoteEnd {
 public:
  NoteEnd(Mutex& mutex, std::vector<int>& ended, int number)
      : mutex_(mutex), ended_(ended), number_(number) {}
  ~NoteEnd() {
    const Lock lock(mutex_);
    ended_.push_back(number_);
  }
  NoteEnd(const NoteEnd&) = delete;
  NoteEnd& operator=(const NoteEnd&) = delete;

 private:
  Mutex& mutex_;
  std::vector<int>& ended_;
  const int number_;
};

void wait_until(Runtime& runtime, const std::atomic<bool>& is) {
  while (!is) runtime.sleep_for(1ms);
}

}  // namespace

TEST_CASE("task: destruction cancels the work and blocks until it has ended") {
  for_each_kind([](Runtime& runtime, ContextRole role) {
    std::atomic<int> unwound{0};
    for (int i = 0; i < 200; ++i) {
      std::atomic<bool> has_begun{false};
      const Task task = runtime.spawn(role, named(1), [&] {
        try {
          has_begun = true;
          runtime.sleep_for(1h);
        } catch (const Cancelled&) {
          ++unwound;
          throw;
        }
      });
      if (i % 2 == 0) wait_until(runtime, has_begun);
    }
    CHECK(unwound == 200);
  });
}

TEST_CASE("task: assignment ends the work of the task that was there before") {
  for_each_kind([](Runtime& runtime, ContextRole role) {
    Mutex mutex;
    std::vector<int> ended;
    std::atomic<bool> has_begun{false};
    Task task = runtime.spawn(role, named(1), [&] {
      const NoteEnd end(mutex, ended, 1);
      has_begun = true;
      runtime.sleep_for(1h);
    });
    wait_until(runtime, has_begun);
    task = runtime.spawn(role, named(2), [] {});
    CHECK(ended == std::vector<int>{1});
    task.join();
    task = {};
    CHECK_FALSE(task);
  });
}

TEST_CASE("task: destruction in a cancelled context blocks until the work has ended") {
  for_each_kind([](Runtime& runtime, ContextRole role) {
    Mutex mutex;
    std::vector<int> ended;
    std::atomic<bool> has_begun{false};
    Task outer = runtime.spawn(role, named(1), [&] {
      const NoteEnd outer_end(mutex, ended, 1);
      const Task middle = runtime.spawn(role, named(2), [&] {
        const NoteEnd middle_end(mutex, ended, 2);
        const Task inner = runtime.spawn(role, named(3), [&] {
          const NoteEnd inner_end(mutex, ended, 3);
          has_begun = true;
          runtime.sleep_for(1h);
        });
        runtime.sleep_for(1h);
      });
      runtime.sleep_for(1h);
    });
    wait_until(runtime, has_begun);
    outer.cancel();
    outer.join();
    CHECK(ended == std::vector<int>{3, 2, 1});
  });
}

TEST_CASE("task: the end of a run ends nested tasks from the inside") {
  for (const ClockKind clock : {ClockKind::virtual_time, ClockKind::steady}) {
    Runtime runtime({.clock = clock});
    Mutex mutex;
    std::vector<int> ended;
    runtime.run([&] {
      std::atomic<bool> has_begun{false};
      runtime
          .spawn(ContextRole::thread, named(1),
                 [&] {
                   const NoteEnd outer_end(mutex, ended, 1);
                   const Task inner = runtime.spawn(ContextRole::service, named(2), [&] {
                     const NoteEnd inner_end(mutex, ended, 2);
                     has_begun = true;
                     runtime.sleep_for(1h);
                   });
                   runtime.sleep_for(1h);
                 })
          .detach();
      wait_until(runtime, has_begun);
    });
    CHECK(ended == std::vector<int>{2, 1});
  }
}

TEST_CASE("task: destruction discards the exception of the work") {
  for_each_kind([](Runtime& runtime, ContextRole role) {
    std::atomic<bool> has_begun{false};
    {
      const Task early = runtime.spawn(role, named(1), [] { throw std::runtime_error("early"); });
      const Task late = runtime.spawn(role, named(2), [&] {
        has_begun = true;
        try {
          runtime.sleep_for(1h);
        } catch (const Cancelled&) {
          throw std::runtime_error("late");
        }
      });
      wait_until(runtime, has_begun);
    }
    SUCCEED();
  });
}

TEST_CASE("task: the captures of the work are destroyed before join() returns") {
  for_each_kind([](Runtime& runtime, ContextRole role) {
    int left = 0;
    for (int i = 0; i < 3'000; ++i) {
      auto captured = std::make_shared<int>(i);
      const std::weak_ptr<int> watched = captured;
      Task task = runtime.spawn(role, named(1), [captured = std::move(captured)] {});
      task.join();
      left += watched.expired() ? 0 : 1;
    }
    CHECK(left == 0);
  });
}

TEST_CASE("task: detached work continues and a canceller still reaches it") {
  for_each_kind([](Runtime& runtime, ContextRole role) {
    std::atomic<bool> may_end{false}, has_ended{false}, is_cancelled{false};
    TaskCanceller canceller;
    CHECK_FALSE(canceller);
    {
      Task first = runtime.spawn(role, named(1), [&] {
        wait_until(runtime, may_end);
        has_ended = true;
      });
      first.detach();
      CHECK_FALSE(first);
      Task second = runtime.spawn(role, named(2), [&] {
        try {
          runtime.sleep_for(1h);
        } catch (const Cancelled&) {
          is_cancelled = true;
        }
      });
      canceller = second.canceller();
      second.detach();
    }
    may_end = true;
    wait_until(runtime, has_ended);
    CHECK_FALSE(is_cancelled);
    canceller.cancel();
    wait_until(runtime, is_cancelled);
    canceller.cancel();  // a second cancel() has no effect
  });
}

TEST_CASE(
    "task: an exception of a detached task is printed with its context unless it is a cancel") {
  const auto said = as_child("detached", [] {
    on_virtual_clock([&](Runtime& runtime) {
      runtime.spawn(ContextRole::service, named(5), [] { throw std::runtime_error("lost"); })
          .detach();
      runtime.spawn(ContextRole::service, named(6), [&] { runtime.sleep_for(1h); }).detach();
      runtime.sleep_for(1ms);
    });
  });
  CHECK_THAT(said.text, Catch::EndsWith("thread alpha-0/5 at 0ns: a detached task threw: lost\n"));
  CHECK(said.exit_code == 0);
}

TEST_CASE("task: a thread that is not part of the run can destroy a task") {
  on_steady_clock([&](Runtime& runtime) {
    for (const ContextRole role : {ContextRole::thread, ContextRole::service}) {
      std::atomic<bool> is_cancelled{false};
      std::optional<Task> task = runtime.spawn(role, named(1), [&] {
        try {
          runtime.sleep_for(1h);
        } catch (const Cancelled&) {
          is_cancelled = true;
        }
      });
      std::thread([&] { task.reset(); }).join();  // tidy: own thread
      CHECK(is_cancelled);
    }
  });
}

TEST_CASE("task: work that destroys its own task ends the process with a message") {
  const auto said = as_child("own", [] {
    on_virtual_clock([&](Runtime& runtime) {
      Task task;
      task = runtime.spawn(ContextRole::thread, named(7), [&] { task = {}; });
      runtime.sleep_for(1ms);
    });
  });
  CHECK_THAT(said.text, Catch::Contains("the work of a Task destroys the Task") &&
                            Catch::Contains("detach()") && Catch::Contains("thread alpha-0/7"));
  CHECK(said.exit_code == ended_by(SIGABRT));
}

TEST_CASE("task: a callback that destroys a running task ends the process with a message") {
  const auto said = as_child("callback", [] {
    on_steady_clock([&](Runtime& runtime) {
      Task task = runtime.spawn(ContextRole::thread, named(1), [&] { runtime.sleep_for(1h); });
      runtime.wake_from_outside([&] { task = {}; });
      runtime.sleep_for(1h);
    });
  });
  CHECK_THAT(said.text, Catch::Contains("a callback, which may not wait, destroys a Task"));
  CHECK(said.exit_code == ended_by(SIGABRT));
}
