// SPDX-License-Identifier: Apache-2.0
// tests/runtime/completion_test.cpp — completions, and waits for any or all of several.
#include "runtime/completion.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/usage_error.hpp"
#include "runtime/random.hpp"
#include "tests/runtime/contexts.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/clocks.hpp"

using namespace std::chrono_literals;
using namespace runtime;
using namespace test_support;

namespace {

std::vector<std::shared_ptr<Completion>> some(std::size_t count) {
  std::vector<std::shared_ptr<Completion>> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(std::make_shared<Completion>());
  return made;
}

/// Spawns a task for each i, which completes `all[i]` at the time `times[i]`.
std::vector<Task> complete_at(Runtime& runtime, std::vector<std::shared_ptr<Completion>> all,
                              std::vector<Nanos> times) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < all.size(); ++i)
    tasks.push_back(
        runtime.spawn(ContextRole::service, named(i), [&runtime, one = all[i], at = times[i]] {
          runtime.sleep_until(at);
          one->complete();
        }));
  return tasks;
}

void join(std::vector<Task> tasks) {
  for (Task& task : tasks) task.join();
}

}  // namespace

TEST_CASE("completion: all present and later waiters continue once it is complete") {
  on_both_clocks([](Runtime& runtime) {
    const auto one = std::make_shared<Completion>();
    std::atomic<int> through{0};
    std::vector<Task> waiters;
    for (std::uint64_t i = 0; i < 5; ++i)
      waiters.push_back(runtime.spawn(ContextRole::thread, named(i), [&, one] {
        if (one->wait(Deadline::never(), {"the test"}) && one->done()) ++through;
      }));
    runtime.sleep_for(1ms);
    CHECK_FALSE(one->done());
    one->complete();
    join(std::move(waiters));
    CHECK(through == 5);
    CHECK(one->wait(Deadline::never(), {"the test"}));
  });
}

TEST_CASE("completion: a wait returns false when its deadline passes") {
  on_virtual_clock([](Runtime& runtime) {
    const auto one = std::make_shared<Completion>();
    const auto tasks = complete_at(runtime, {one}, {20ms});
    CHECK_FALSE(one->wait(Deadline::written_at(10ms), {"the test"}));
    CHECK(runtime.now() == 10ms);
    CHECK(one->wait(Deadline::written_at(30ms), {"the test"}));
    CHECK(runtime.now() == 20ms);
  });
}

TEST_CASE("wait set: any reports each member once in the order of completion") {
  on_virtual_clock([](Runtime& runtime) {
    const auto members = some(4);
    WaitSet set(runtime);
    for (std::size_t i = 0; i < 4; ++i) CHECK(set.add(members[i]) == i);
    const auto tasks = complete_at(runtime, members, {30ms, 10ms, 40ms, 10ms});
    std::vector<std::pair<std::size_t, Nanos>> told;
    while (set.size() > 0) {
      const auto member = set.any();
      REQUIRE(member);
      told.emplace_back(*member, runtime.now());
    }
    const std::vector<std::pair<std::size_t, Nanos>> expected{
        {1, 10ms}, {3, 10ms}, {0, 30ms}, {2, 40ms}};
    CHECK(told == expected);
  });
}

TEST_CASE("wait set: any returns at its deadline and a later call continues") {
  on_virtual_clock([](Runtime& runtime) {
    const auto members = some(2);
    WaitSet set(runtime);
    for (const auto& one : members) set.add(one);
    const auto tasks = complete_at(runtime, members, {30ms, 20ms});
    CHECK_FALSE(set.any(Deadline::written_at(10ms)));
    CHECK(runtime.now() == 10ms);
    CHECK_FALSE(set.try_any());
    CHECK(set.any(Deadline::written_at(40ms)) == 1u);
    CHECK(set.size() == 1);
    CHECK(set.any() == 0u);
    CHECK(runtime.now() == 30ms);
  });
}

TEST_CASE("wait set: all waits for the last member and reports none") {
  on_virtual_clock([](Runtime& runtime) {
    const auto members = some(3);
    WaitSet set(runtime);
    for (const auto& one : members) set.add(one);
    const auto tasks = complete_at(runtime, members, {30ms, 10ms, 20ms});
    CHECK_FALSE(set.all(Deadline::written_at(25ms)));
    CHECK(set.all());
    CHECK(runtime.now() == 30ms);
    CHECK(set.size() == 3);
    CHECK(set.any() == 1u);
    CHECK(set.any() == 2u);
    CHECK(set.any() == 0u);
    CHECK(set.all());  // true immediately, because the set has no members any more
  });
}

TEST_CASE("wait set: a member that completed before it was added is reported immediately") {
  on_virtual_clock([](Runtime& runtime) {
    const auto members = some(2);
    members[1]->complete();
    WaitSet set(runtime);
    for (const auto& one : members) set.add(one);
    CHECK(set.try_any() == 1u);
    CHECK_FALSE(set.try_any());
    CHECK(runtime.now() == 0ms);
  });
}

TEST_CASE("wait set: a removed member is neither reported nor waited for in any state") {
  on_virtual_clock([](Runtime& runtime) {
    const auto members = some(4);
    WaitSet set(runtime);
    for (const auto& one : members) set.add(one);
    members[0]->complete();
    members[1]->complete();
    set.remove(1);
    set.remove(2);
    set.remove(2);
    const auto tasks = complete_at(runtime, {members[3]}, {5ms});
    CHECK(set.all());
    CHECK(runtime.now() == 5ms);
    CHECK(set.any() == 0u);
    CHECK(set.any() == 3u);
    CHECK(set.size() == 0);
    members[2]->complete();
    CHECK_FALSE(set.try_any());
    set.remove(0);  // completion 0 was already reported
  });
}

TEST_CASE("wait set: destroying a set affects neither its members nor other sets") {
  on_both_clocks([](Runtime& runtime) {
    const auto members = some(3);
    WaitSet stays(runtime);
    {
      WaitSet goes(runtime);
      for (const auto& one : members) {
        goes.add(one);
        stays.add(one);
      }
      members[0]->complete();
    }
    members[1]->complete();
    members[2]->complete();
    CHECK(stays.all());
    CHECK(stays.size() == 3);
  });
}

TEST_CASE("wait set: the set keeps its members alive") {
  on_virtual_clock([](Runtime& runtime) {
    WaitSet set(runtime);
    std::weak_ptr<Completion> seen;
    {
      const auto one = std::make_shared<Completion>();
      seen = one;
      set.add(one);
      one->complete();
    }
    CHECK_FALSE(seen.expired());
    CHECK(set.any() == 0u);
    CHECK(seen.expired());
  });
}

TEST_CASE("wait set: a cancelled context leaves the set and another may wait for it") {
  on_both_clocks([](Runtime& runtime) {
    const auto members = some(2);
    WaitSet set(runtime);
    for (const auto& one : members) set.add(one);
    bool was_cancelled = false;
    Task waiter = runtime.spawn(ContextRole::thread, named(1), [&] {
      try {
        set.any();
      } catch (const Cancelled&) {
        was_cancelled = true;
        throw;
      }
    });
    runtime.sleep_for(1ms);
    waiter.cancel();
    waiter.join();
    CHECK(was_cancelled);
    members[1]->complete();
    CHECK(set.any() == 1u);
  });
}

TEST_CASE("wait set: waiting for any of no members is refused") {
  on_virtual_clock([](Runtime& runtime) {
    WaitSet set(runtime);
    CHECK_THROWS_AS(set.any(), base::UsageError);
    set.add(std::make_shared<Completion>());
    set.remove(0);
    CHECK_THROWS_AS(set.any(), base::UsageError);
  });
}

TEST_CASE("wait set: a deadlock names the waiting context and the number of members") {
  Runtime runtime({.clock = ClockKind::virtual_time});
  const auto run = [&] {
    runtime.run([&] {
      const auto members = some(3);
      WaitSet set(runtime);
      for (const auto& one : members) set.add(one);
      members[2]->complete();
      set.all();
    });
  };
  CHECK_THROWS_WITH(run(), Catch::Contains("main waits for a wait set whose members that are left "
                                           "are 2"));
}

TEST_CASE(
    "wait set: members completed and added and removed in random order are reported once each") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    on_virtual_clock([seed](Runtime& runtime) {
      Random random(seed);
      const std::size_t count = 1 + random.below(60);
      const auto members = some(count);
      std::vector<Nanos> times;
      for (std::size_t i = 0; i < count; ++i)
        times.emplace_back(static_cast<std::int64_t>(random.below(50)) * 1'000'000);
      const auto tasks = complete_at(runtime, members, times);
      WaitSet set(runtime);
      std::vector<int> told(count, 0);
      std::size_t removed = 0;
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(set.add(members[i]) == i);
        if (random.below(4) == 0) runtime.sleep_for(1ms);
        if (random.below(8) == 0 && told[i] == 0) {
          set.remove(i);
          told[i] = -1;
          ++removed;
        }
        if (random.below(3) == 0)
          if (const auto member = set.try_any()) ++told[*member];
      }
      while (set.size() > 0) {
        const auto member = set.any();
        REQUIRE(member);
        CHECK(runtime.now() >= times[*member]);
        ++told[*member];
      }
      CHECK(std::count(told.begin(), told.end(), 1) ==
            static_cast<std::ptrdiff_t>(count - removed));
    });
  }
}

TEST_CASE("wait set: continued use of one set allocates no memory") {
  on_virtual_clock([](Runtime& runtime) {
    WaitSet set(runtime);
    const auto round = [&set](const std::shared_ptr<Completion>& one) {
      set.add(one);
      one->complete();
      CHECK(set.try_any());
    };
    const auto members = some(3);
    round(members[0]);
    round(members[1]);
    const std::uint64_t before = allocations();
    set.add(members[2]);
    members[2]->complete();
    const auto told = set.try_any();
    const std::uint64_t after = allocations();
    CHECK(told == 2u);
    CHECK(after == before);
  });
}
