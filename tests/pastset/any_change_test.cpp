// SPDX-License-Identifier: Apache-2.0
// tests/pastset/any_change_test.cpp — waits for a change of any of several elements.
#include "pastset/any_change.hpp"

#include <catch2/catch.hpp>

#include "pastset/local_element.hpp"
#include "runtime/runtime.hpp"
#include "tests/pastset/numbers.hpp"
#include "tests/support/clocks.hpp"

using base::Payload;
using pastset::AnyChange;
using pastset::Element;
using pastset::LocalElement;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;
using namespace test_support;
using namespace std::chrono_literals;

TEST_CASE("any change: a tuple and a mark and a deletion count as changes but a read does not") {
  LocalElement a("a", number);
  LocalElement b("b", number);
  AnyChange changes({&a, &b});
  CHECK(changes.count() == 0);
  a.move(tuple(1));
  CHECK(changes.count() == 1);
  b.mark_error("x");
  b.mark_error("x again");
  CHECK(changes.count() == 2);
  a.observe();
  a.newest();
  a.axe(0);
  a.set_delta(1);
  CHECK(changes.count() == 2);
  b.delete_element();
  b.delete_element();
  CHECK(changes.count() == 3);
}

TEST_CASE("any change: a refused move does not count") {
  LocalElement a("a", number);
  AnyChange changes({&a});
  CHECK_THROWS(a.move(Payload()));
  CHECK(changes.count() == 0);
}

TEST_CASE("any change: a change between reading the count and waiting is not missed") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement a("a", number);
    AnyChange changes({&a});
    const std::uint64_t seen = changes.count();
    a.move(tuple(1));
    CHECK(changes.wait(seen, Deadline::written_at(1s)));
    CHECK(runtime.now() == 0ms);
  });
}

TEST_CASE("any change: the wait ends with a change of any element or at its deadline") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement a("a", number);
    LocalElement b("b", number);
    AnyChange changes({&a, &b});
    Task mover = start(runtime, 1, [&] {
      for (Element* element : {&b, &a}) {
        runtime.sleep_for(2ms);
        element->move(tuple(1));
      }
    });
    CHECK(changes.wait(changes.count()));
    CHECK(runtime.now() == 2ms);
    CHECK(b.last() == 1);
    CHECK_FALSE(changes.wait(changes.count(), Deadline::written_at(3ms)));
    CHECK(runtime.now() == 3ms);
    CHECK(changes.wait(changes.count(), Deadline::written_at(9ms)));
    CHECK(runtime.now() == 4ms);
    mover.join();
  });
}

TEST_CASE("any change: a blocked move counts when it is admitted") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement a("a", number, {.delta = 1});
    AnyChange changes({&a});
    a.move(tuple(0));
    Task mover = start(runtime, 1, [&] { a.move(tuple(1)); });
    runtime.sleep_for(1ms);
    CHECK(changes.count() == 1);
    a.observe();
    CHECK(changes.count() == 2);
    mover.join();
  });
}

TEST_CASE("any change: several may watch one element and a destroyed one is not notified") {
  LocalElement a("a", number);
  AnyChange stays({&a});
  {
    AnyChange leaves({&a, &a});
    a.move(tuple(1));
    CHECK(leaves.count() == 2);
  }
  a.move(tuple(2));
  CHECK(stays.count() == 2);
}

TEST_CASE("any change: a watcher among OS threads sees every change while all elements move") {
  constexpr std::uint64_t moves = 2000;
  std::uint64_t seen_tuples = 0;
  std::uint64_t spurious = 0;
  on_steady_clock([&](Runtime& runtime) {
    std::vector<std::unique_ptr<Element>> elements;
    std::vector<Element*> watched;
    std::vector<Task> movers;
    for (std::uint64_t i = 0; i < 3; ++i) {
      elements.push_back(std::make_unique<LocalElement>("e", number));
      watched.push_back(elements.back().get());
    }
    AnyChange changes(watched);
    for (Element* element : watched) {
      movers.push_back(start(runtime, 1, [element] {
        for (std::uint64_t i = 0; i < moves; ++i) element->move(tuple(i));
      }));
    }
    while (seen_tuples < watched.size() * moves) {
      const std::uint64_t seen = changes.count();
      const std::uint64_t before = seen_tuples;
      for (Element* element : watched) {
        while (element->try_observe()) ++seen_tuples;
      }
      if (seen_tuples == watched.size() * moves) break;
      if (!changes.wait(seen)) ++spurious;
      CHECK(seen_tuples >= before);
    }
    for (Task& mover : movers) mover.join();
  });
  CHECK(seen_tuples == 3 * moves);
  CHECK(spurious == 0);
}
