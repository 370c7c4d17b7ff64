// SPDX-License-Identifier: Apache-2.0
// tests/pastset/element_wait_test.cpp — waits in an element, and their order of release.
#include <catch2/catch.hpp>

#include "pastset/any_change.hpp"
#include "pastset/local_element.hpp"
#include "runtime/runtime.hpp"
#include "tests/pastset/numbers.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/thrown.hpp"

using pastset::AnyChange;
using pastset::Element;
using pastset::LocalElement;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// Starts contexts that move 0, 1, 2 and so on. When the function returns, they wait in this order.
std::vector<Task> start_movers(Runtime& runtime, Element& element, std::uint64_t count) {
  std::vector<Task> movers;
  for (std::uint64_t i = 0; i < count; ++i) {
    movers.push_back(start(runtime, i, [&element, i] { element.move(tuple(i)); }));
    runtime.sleep_for(1ms);
  }
  return movers;
}

void join_all(std::vector<Task>& tasks) {
  for (Task& task : tasks) task.join();
}

}  // namespace

TEST_CASE("element: a move blocks while delta tuples are unobserved until one is observed") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 2});
    runtime::Nanos returned{};
    Task mover = start(runtime, 1, [&] {
      for (std::uint64_t i = 0; i < 3; ++i) element.move(tuple(i));
      returned = runtime.now();
    });
    runtime.sleep_for(5ms);
    CHECK(element.last() == 2);
    // Reading a tuple by its number releases no blocked mover.
    CHECK(value_of(element.observe(1)) == 1);
    runtime.sleep_for(5ms);
    CHECK(element.last() == 2);
    element.observe();
    mover.join();
    CHECK(returned == 10ms);
    CHECK(element.last() == 3);
  });
}

TEST_CASE("element: blocked movers are released in order of arrival") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    std::vector<Task> movers = start_movers(runtime, element, 20);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const pastset::Stored stored = i % 2 == 0 ? element.observe() : element.try_observe().value();
      CHECK(stored.number == i);
      CHECK(value_of(stored) == i);
    }
    join_all(movers);
  });
}

TEST_CASE("element: a new mover queues behind blocked ones") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    std::vector<Task> movers = start_movers(runtime, element, 3);
    // The released mover has not run yet, but its tuple already has a number.
    CHECK(value_of(element.observe()) == 0);
    CHECK(element.last() == 2);
    movers.push_back(start(runtime, 9, [&] { element.move(tuple(9)); }));
    for (const std::uint64_t expected : {1u, 2u, 9u})
      CHECK(value_of(element.observe()) == expected);
    join_all(movers);
  });
}

TEST_CASE("element: raising delta releases as many movers as fit in their order") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    std::vector<Task> movers = start_movers(runtime, element, 8);
    CHECK(element.last() == 1);
    element.set_delta(4);
    CHECK(element.last() == 4);
    // 4 tuples are already unobserved. They remain valid: the new limit of 2 only makes later moves
    // wait.
    element.set_delta(2);
    CHECK(element.last() == 4);
    element.observe();
    element.observe();
    CHECK(element.last() == 4);
    element.observe();
    CHECK(element.last() == 5);
    element.set_delta(0);
    join_all(movers);
    CHECK(element.last() == 8);
    for (std::uint64_t i = 3; i < 8; ++i) CHECK(value_of(element.observe()) == i);
  });
}

TEST_CASE("element: a mover whose deadline passes leaves the queue and moves nothing") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    element.move(tuple(0));
    Task patient = start(runtime, 1, [&] { element.move(tuple(1)); });
    Task hasty = start(runtime, 2, [&] {
      CHECK_THROWS_WITH(element.move(tuple(2), Deadline::written_at(5ms)),
                        "element 'e': no room before the deadline, 1 unobserved");
      CHECK(runtime.now() == 5ms);
    });
    Task last = start(runtime, 3, [&] { element.move(tuple(3), Deadline::written_at(1s)); });
    hasty.join();
    CHECK(element.last() == 1);
    for (const std::uint64_t expected : {0u, 1u, 3u})
      CHECK(value_of(element.observe()) == expected);
    patient.join();
    last.join();
  });
}

TEST_CASE("element: a cancelled mover leaves the queue") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    std::vector<Task> movers = start_movers(runtime, element, 3);
    movers[1].cancel();
    movers[1].join();
    CHECK(value_of(element.observe()) == 0);
    CHECK(value_of(element.observe()) == 2);
    join_all(movers);
    CHECK(element.last() == 2);
  });
}

TEST_CASE("element: observe(n) blocks every reader until tuple n exists") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number);
    std::vector<Task> readers;
    for (std::uint64_t i = 0; i < 4; ++i) {
      readers.push_back(start(runtime, i, [&element, &runtime, i] {
        CHECK(value_of(element.observe(i / 2)) == i / 2);
        CHECK(runtime.now() == (i / 2 + 1) * 1ms);
      }));
    }
    for (std::uint64_t i = 0; i < 2; ++i) {
      runtime.sleep_for(1ms);
      element.move(tuple(i));
    }
    join_all(readers);
    CHECK(element.first() == 0);
  });
}

TEST_CASE("element: observers without a number share the tuples between them") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number);
    std::vector<std::uint64_t> seen;
    std::vector<Task> observers;
    for (std::uint64_t i = 0; i < 3; ++i) {
      observers.push_back(start(runtime, i, [&] {
        for (int n = 0; n < 2; ++n) seen.push_back(element.observe().number);
      }));
    }
    runtime.sleep_for(1ms);
    for (std::uint64_t i = 0; i < 6; ++i) element.move(tuple(i));
    join_all(observers);
    CHECK(seen == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
  });
}

TEST_CASE("element: a reader whose deadline passes gets an error and changes nothing") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number);
    CHECK_THROWS_AS(element.observe(Deadline::written_at(1ms)), pastset::DeadlinePassed);
    CHECK_THROWS_WITH(element.observe(7, Deadline::written_at(2ms)),
                      "element 'e': no tuple 7 before the deadline");
    CHECK_THROWS_AS(element.newest(0, Deadline::written_at(3ms)), pastset::DeadlinePassed);
    CHECK(runtime.now() == 3ms);
    CHECK(element.first() == element.last());
  });
}

TEST_CASE("element: an operation that needs no wait succeeds after its deadline") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    runtime.sleep_for(5ms);
    CHECK(element.move(tuple(3), Deadline::written_at(1ms)) == 0);
    CHECK(value_of(element.newest(0, Deadline::written_at(1ms))) == 3);
    CHECK(value_of(element.observe(Deadline::written_at(1ms))) == 3);
  });
}

TEST_CASE("element: newest blocks until a tuple from that number on exists") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.keep_newest = 1});
    Task reader = start(runtime, 1, [&] {
      CHECK(element.newest(3).number == 4);
      CHECK(runtime.now() == 2ms);
    });
    for (std::uint64_t i = 0; i < 3; ++i) element.move(tuple(i));
    runtime.sleep_for(2ms);
    for (std::uint64_t i = 3; i < 5; ++i) element.move(tuple(i));
    reader.join();
  });
}

TEST_CASE("element: a reader of a tuple that was moved and freed meanwhile gets Expired") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.keep_newest = 1});
    Task reader = start(runtime, 1, [&] { CHECK_THROWS_AS(element.observe(0), pastset::Expired); });
    runtime.sleep_for(1ms);
    for (std::uint64_t i = 0; i < 2; ++i) element.move(tuple(i));
    reader.join();
  });
}

TEST_CASE("element: an error mark wakes blocked readers but not movers") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement element("e", number, {.delta = 1});
    std::vector<Task> readers;
    readers.push_back(start(runtime, 1, [&] {
      CHECK_THROWS_WITH(element.newest(1), "lost");
      CHECK(runtime.now() == 1ms);
    }));
    readers.push_back(start(runtime, 2, [&] {
      CHECK_THROWS_WITH(element.observe(2), "lost");
      CHECK(runtime.now() == 1ms);
    }));
    element.move(tuple(0));
    CHECK(element.observe().number == 0);
    readers.push_back(start(runtime, 3, [&] {
      CHECK_THROWS_WITH(element.observe(), "lost");
      CHECK(runtime.now() == 1ms);
    }));
    runtime.sleep_for(1ms);
    element.mark_error("lost");
    join_all(readers);
    element.move(tuple(1));
    Task mover = start(runtime, 4, [&] { element.move(tuple(2)); });
    runtime.sleep_for(1ms);
    element.mark_error("lost again");
    CHECK_FALSE(mover.done());
    CHECK(element.observe().number == 1);
    mover.join();
    CHECK(element.observe(2).number == 2);
  });
}

TEST_CASE("element: deletion wakes all blocked contexts with an error") {
  on_virtual_clock([](Runtime& runtime) {
    LocalElement full("full", number, {.delta = 1});
    LocalElement empty("empty", number);
    full.move(tuple(0));
    AnyChange changes({&full, &empty});
    const std::vector<std::function<void()>> blocking{
        [&] { full.move(tuple(1)); }, [&] { full.move(tuple(2)); }, [&] { full.observe(1); },
        [&] { full.newest(1); },      [&] { empty.observe(); },     [&] { empty.observe(3); },
        [&] { empty.newest(); }};
    int told = 0;
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < blocking.size(); ++i) {
      tasks.push_back(start(runtime, i, [&, i] {
        CHECK_THROWS_AS(blocking[i](), pastset::Deleted);
        CHECK(runtime.now() == 1ms);
        ++told;
      }));
    }
    tasks.push_back(start(runtime, 99, [&, seen = changes.count()] { CHECK(changes.wait(seen)); }));
    runtime.sleep_for(1ms);
    full.delete_element();
    empty.delete_element();
    join_all(tasks);
    CHECK(told == static_cast<int>(blocking.size()));
  });
}

TEST_CASE("element: a deadlock report names the element of each wait") {
  const auto deadlock = [](const std::function<void(Element&)>& block) {
    LocalElement element("sum.alpha-0", number, {.delta = 1});
    return thrown<runtime::Deadlock>([&] { on_virtual_clock([&](Runtime&) { block(element); }); });
  };
  CHECK_THAT(deadlock([](Element& element) { element.observe(); }),
             Catch::Contains("tuple of element") && Catch::Contains("sum.alpha-0"));
  CHECK_THAT(deadlock([](Element& element) {
               element.move(tuple(0));
               element.move(tuple(1));
             }),
             Catch::Contains("room in element") && Catch::Contains("sum.alpha-0"));
  CHECK_THAT(deadlock([](Element& element) {
               AnyChange changes({&element});
               changes.wait(changes.count());
             }),
             Catch::Contains("change of any element") && Catch::Contains("sum.alpha-0"));
}
