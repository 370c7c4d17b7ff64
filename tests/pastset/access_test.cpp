// SPDX-License-Identifier: Apache-2.0
// tests/pastset/access_test.cpp — reads and moves that wait in an element without a context.
#include "pastset/access.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/usage_error.hpp"
#include "pastset/local_element.hpp"
#include "runtime/completion.hpp"
#include "runtime/random.hpp"
#include "runtime/runtime.hpp"
#include "tests/pastset/numbers.hpp"
#include "tests/support/clocks.hpp"

using base::Payload;
using pastset::LocalElement;
using Started = runtime::Handle<pastset::Stored>;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;
using runtime::WaitSet;
using namespace test_support;
using namespace std::chrono_literals;

TEST_CASE("access: a started read of an existing tuple is done at once") {
  on_virtual_clock([](Runtime&) {
    LocalElement element("e", number);
    for (std::uint64_t i = 0; i < 3; ++i) element.move(tuple(10 + i));
    Started second = start_observe(element, 1), newest = start_newest(element);
    Started oldest = start_observe(element);
    CHECK(second.done());
    CHECK(value_of(second.wait()) == 11);
    CHECK(newest.wait().number == 2);
    CHECK(value_of(oldest.wait()) == 10);
    CHECK(element.first() == 1);
  });
}

TEST_CASE("access: one context waits for reads of several elements and each ends with its tuple") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement a("a", number), b("b", number), c("c", number);
    std::vector<Started> reads;
    WaitSet set(runtime);
    for (LocalElement* element : {&a, &b, &c}) {
      reads.push_back(start_newest(*element));
      set.add(reads.back());
    }
    Task mover = start(runtime, 1, [&] {
      runtime.sleep_until(10ms);
      c.move(tuple(3));
      runtime.sleep_until(20ms);
      a.move(tuple(1));
    });
    CHECK(set.any() == 2u);
    CHECK(runtime.now() == 10ms);
    CHECK(value_of(reads[2].wait()) == 3);
    CHECK(set.any() == 0u);
    CHECK(runtime.now() == 20ms);
    CHECK_FALSE(set.any(Deadline::written_at(30ms)));
  });
}

TEST_CASE("access: started observes are served in order of their start with different tuples") {
  on_virtual_clock([](Runtime&) {
    LocalElement element("e", number);
    std::vector<Started> reads;
    for (int i = 0; i < 3; ++i) reads.push_back(start_observe(element));
    element.move(tuple(0));
    CHECK(reads[0].done());
    CHECK_FALSE(reads[1].done());
    element.move(tuple(1));
    element.move(tuple(2));
    for (std::uint64_t i = 0; i < 3; ++i) CHECK(value_of(reads[i].wait()) == i);
    CHECK(element.first() == 3);
  });
}

TEST_CASE("access: started moves and blocked moves share one queue") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    Started first = start_move(element, tuple(0)), second = start_move(element, tuple(1));
    Task third = start(runtime, 1, [&] { element.move(tuple(2)); });
    runtime.sleep_for(1ms);
    Started fourth = start_move(element, tuple(3));
    CHECK(first.done());
    CHECK_FALSE(second.done());
    for (std::uint64_t i = 0; i < 4; ++i) CHECK(value_of(element.observe()) == i);
    third.join();
    CHECK(second.wait().number == 1);
    CHECK(fourth.wait().number == 3);
  });
}

TEST_CASE("access: a read that makes room admits a move and that serves the next read") {
  on_virtual_clock([](Runtime&) {
    LocalElement element("e", number, {.delta = 1});
    std::vector<Started> moves, reads;
    for (std::uint64_t i = 0; i < 5; ++i) moves.push_back(start_move(element, tuple(i)));
    for (std::uint64_t i = 0; i < 5; ++i) {
      CHECK(moves[i].done());
      reads.push_back(start_observe(element));
      CHECK(value_of(reads[i].wait()) == i);
    }
    Started waits = start_observe(element);
    Started moved = start_move(element, tuple(5));
    CHECK(moved.done());
    CHECK(value_of(waits.wait()) == 5);
  });
}

TEST_CASE("access: a cancelled or dropped access has no effect and blocks no other") {
  on_virtual_clock([](Runtime&) {
    LocalElement element("e", number, {.delta = 1});
    Started cancelled = start_observe(element), stays = start_observe(element);
    { const Started dropped = start_observe(element); }
    CHECK(cancelled.cancel());
    CHECK_FALSE(cancelled.cancel());
    CHECK_THROWS_AS(cancelled.wait(), base::UsageError);
    element.move(tuple(0));
    CHECK(value_of(stays.wait()) == 0);
    element.move(tuple(1));
    Started first = start_move(element, tuple(2)), second = start_move(element, tuple(3));
    first = {};
    CHECK(value_of(element.observe()) == 1);
    CHECK(second.wait().number == 2);
    CHECK(value_of(element.observe()) == 3);
    Started happened = start_move(element, tuple(4));
    CHECK_FALSE(happened.cancel());
    CHECK(element.last() == 4);
  });
}

TEST_CASE("access: an access that misses its deadline fails like a blocked one and has no effect") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    Started read = start_newest(element, 7);
    CHECK_THROWS_WITH(read.wait(Deadline::written_at(10ms)),
                      "element 'e': no tuple 7 before the deadline");
    CHECK(runtime.now() == 10ms);
    CHECK_THROWS_AS(read.wait(), base::UsageError);
    element.move(tuple(0));
    Started moved = start_move(element, tuple(1));
    CHECK_THROWS_AS(moved.wait(Deadline::written_at(20ms)), pastset::DeadlinePassed);
    element.observe();
    CHECK(element.last() == 1);
  });
}

TEST_CASE("access: a cancelled context leaves its started access until the handle is destroyed") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number);
    Task reader = start(runtime, 1, [&] {
      Started read = start_observe(element);
      read.wait();
    });
    runtime.sleep_for(1ms);
    reader.cancel();
    reader.join();
    element.move(tuple(0));
    CHECK(element.first() == 0);
  });
}

TEST_CASE("access: deleting or destroying the element ends all waiting accesses") {
  on_virtual_clock([](Runtime& runtime) {
    Started outlives;
    {
      LocalElement element("e", number, {.delta = 1});
      element.move(tuple(0));
      Started read = start_newest(element, 5), moved = start_move(element, tuple(1));
      WaitSet set(runtime);
      set.add(read);
      set.add(moved);
      element.delete_element();
      CHECK(set.all());
      CHECK_THROWS_AS(read.wait(), pastset::Deleted);
      CHECK_THROWS_AS(moved.wait(), pastset::Deleted);
      Started late = start_observe(element);
      CHECK_THROWS_AS(late.wait(), pastset::Deleted);
      LocalElement other("o", number);
      outlives = start_observe(other);
    }
    CHECK_THROWS_WITH(outlives.wait(), "element 'o' was deleted");
  });
}

TEST_CASE("access: an error mark ends present and later waiting reads and moves continue") {
  on_virtual_clock([](Runtime&) {
    LocalElement element("e", number, {.delta = 1});
    element.move(tuple(0));
    Started moved = start_move(element, tuple(1));
    Started read = start_observe(element, 4);
    element.mark_error("host x is gone");
    CHECK_THROWS_WITH(read.wait(), "host x is gone");
    CHECK_FALSE(moved.done());
    CHECK(value_of(start_observe(element).wait()) == 0);
    CHECK(moved.wait().number == 1);
    CHECK_THROWS_AS(start_newest(element, 2).wait(), pastset::Marked);
  });
}

TEST_CASE("access: an error of an access is thrown by its handle") {
  on_virtual_clock([](Runtime&) {
    LocalElement element("e", number, {.keep_newest = 1});
    for (std::uint64_t i = 0; i < 3; ++i) element.move(tuple(i));
    CHECK_THROWS_AS(start_observe(element, 0).wait(), pastset::Expired);
    CHECK_THROWS_AS(start_move(element, Payload::of(1.0f)).wait(), pastset::TemplateMismatch);
    CHECK(element.last() == 3);
    Started never;
    CHECK_THROWS_AS(never.wait(), base::UsageError);
    CHECK_THROWS_AS(never.completion(), base::UsageError);
  });
}

TEST_CASE("access: an X-function that throws ends its access and changes nothing") {
  on_virtual_clock([](Runtime&) {
    bool is_broken = true;
    pastset::ElementOptions options;
    options.x_function.out = [&](const Payload& stored) {
      if (is_broken) throw std::runtime_error("broken");
      return stored;
    };
    LocalElement element("e", number, options);
    Started first = start_observe(element);
    element.move(tuple(7));
    CHECK_THROWS_WITH(first.wait(), "broken");
    is_broken = false;
    CHECK(value_of(start_observe(element).wait()) == 7);
  });
}

TEST_CASE(
    "access: every moved tuple is observed once in any order of starts and waits and cancels") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    on_virtual_clock([seed](Runtime&) {
      runtime::Random random(seed);
      LocalElement element("e", number, {.delta = random.below(4)});
      std::vector<Started> moves, reads;
      std::vector<std::uint64_t> observed;
      std::uint64_t moved = 0, next = 0;
      const auto collect = [&](Started& read) { observed.push_back(value_of(read.wait())); };
      for (int step = 0; step < 200; ++step) {
        switch (random.below(5)) {
          case 0:
          case 1: moves.push_back(start_move(element, tuple(next++))); break;
          case 2: reads.push_back(start_observe(element)); break;
          case 3:
            if (const auto oldest = element.try_observe()) observed.push_back(value_of(*oldest));
            break;
          default: {
            auto& all = random.below(2) == 0 ? moves : reads;
            if (all.empty()) break;
            Started& one = all[random.below(all.size())];
            const bool had_happened = one.done();
            if (had_happened) break;
            CHECK(one.cancel());
            std::swap(one, all.back());
            all.pop_back();
          }
        }
      }
      element.set_delta(0);
      for (Started& one : moves) {
        one.wait();
        ++moved;
      }
      for (Started& one : reads)
        if (one.done()) collect(one);
      reads.clear();
      while (const auto oldest = element.try_observe()) observed.push_back(value_of(*oldest));
      CHECK(element.last() == moved);
      CHECK(observed.size() == moved);
      std::sort(observed.begin(), observed.end());
      CHECK(std::adjacent_find(observed.begin(), observed.end()) == observed.end());
    });
  }
}
