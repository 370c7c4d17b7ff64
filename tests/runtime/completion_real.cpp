// SPDX-License-Identifier: Apache-2.0
// tests/runtime/completion_real.cpp — wait sets of OS threads, including threads that the runtime
// did not start.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <vector>

#include "base/usage_error.hpp"
#include "runtime/completion.hpp"
#include "tests/support/clocks.hpp"

using namespace std::chrono_literals;
using namespace runtime;

TEST_CASE("wait set: a thread that the runtime did not start waits for members and for deadlines") {
  test_support::on_steady_clock([&](Runtime& runtime) {
    const auto never = std::make_shared<Completion>();
    const auto soon = std::make_shared<Completion>();
    bool has_given_up = false, was_notified = false;
    const auto foreign = std::async(std::launch::async, [&] {
      WaitSet set(runtime);
      set.add(never);
      const Nanos limit = runtime.now() + 5ms;
      has_given_up = !set.any(Deadline::written_at(limit)) && runtime.now() >= limit;
      set.add(soon);
      was_notified = set.any() == 1u;
    });
    runtime.sleep_for(20ms);
    soon->complete();
    foreign.wait();
    CHECK(has_given_up);
    CHECK(was_notified);
  });
}

TEST_CASE("wait set: a thread that the runtime did not start cannot wait on the virtual clock") {
  test_support::on_virtual_clock([&](Runtime& runtime) {
    bool was_refused = false;
    const auto foreign = std::async(std::launch::async, [&] {
      WaitSet set(runtime);
      set.add(std::make_shared<Completion>());
      try {
        set.any();
      } catch (const base::UsageError&) {
        was_refused = true;
      }
    });
    foreign.wait();
    CHECK(was_refused);
  });
}

TEST_CASE("wait set: concurrent completions are reported exactly once to each waiter") {
  const std::size_t waiters = 4, rounds = 200, members = 16;
  test_support::on_steady_clock([&](Runtime& runtime) {
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<std::shared_ptr<Completion>> all;
      for (std::size_t i = 0; i < members; ++i) all.push_back(std::make_shared<Completion>());
      std::atomic<std::size_t> told{0};
      std::vector<std::future<void>> foreign;
      for (std::size_t i = 0; i < waiters; ++i)
        foreign.push_back(std::async(std::launch::async, [&runtime, &told, members, all] {
          WaitSet set(runtime);
          for (const auto& one : all) set.add(one);
          std::vector<bool> seen(members);
          while (set.size() > 0) {
            const auto member = set.any();
            if (member && !seen[*member]) ++told;
            seen[*member] = true;
          }
        }));
      std::vector<Task> tasks;
      for (std::size_t i = 0; i < members; ++i)
        tasks.push_back(runtime.spawn(i % 2 == 0 ? ContextRole::service : ContextRole::thread,
                                      {"thread", "test", i}, [one = all[i]] { one->complete(); }));
      for (Task& task : tasks) task.join();
      for (auto& one : foreign) one.get();
      REQUIRE(told == waiters * members);
    }
  });
}
