// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/store_test.cpp — all operations on an element, made through the `store` that ends
// a path.
#include "wrappers/store.hpp"

#include <catch2/catch.hpp>

#include "pastset/local_element.hpp"
#include "tests/wrappers/chain.hpp"

namespace {

using base::Payload;
using paths::OperationKind;
using paths::TravelError;
using namespace std::chrono_literals;
using namespace wrapper_tests;

struct Stored {
  explicit Stored(pastset::ElementOptions options = {},
                  wrappers::StoreMarks marks = wrappers::StoreMarks::nothing)
      : element(std::make_shared<pastset::LocalElement>("work", *pastset::Template::parse("u64"),
                                                        std::move(options))),
        store(element, marks) {
    store.set_name("store.work");
  }
  Chain chain;
  std::shared_ptr<pastset::Element> element;
  wrappers::Store store;
  const paths::Stage& end = chain.stage(store);

  paths::Result operate(OperationKind kind, std::uint64_t number = 0) {
    return chain.operate(end, operation(kind, number));
  }
  paths::Result move(std::uint64_t value) {
    return chain.operate(end, move_of(Payload::of(value)));
  }
};

Payload text(std::string_view words) {
  return Payload::copy_of(std::as_bytes(std::span(words.data(), words.size())));
}

}  // namespace

TEST_CASE("store: a moved tuple is in the element and in the result") {
  Stored t;
  t.chain.run([&] {
    paths::Operation second = move_of(Payload::of(std::uint64_t{12}), 5);
    second.contributions = 9;
    CHECK(t.move(11).number == 0);
    const paths::Result result = t.chain.operate(t.end, second);
    CHECK(result.number == 1);
    CHECK(result.sequence == 5);
    CHECK(result.contributions == 9);
    CHECK(result.payload.read<std::uint64_t>() == 12);
    CHECK(t.element->observe(1).payload.read<std::uint64_t>() == 12);
  });
}

TEST_CASE("store: reads return the tuple and its number") {
  Stored t;
  t.chain.run([&] {
    for (std::uint64_t value : {10, 11, 12}) t.move(value);
    const paths::Result oldest = t.operate(OperationKind::observe);
    CHECK(oldest.number == 0);
    CHECK(oldest.payload.read<std::uint64_t>() == 10);
    const paths::Result by_number = t.operate(OperationKind::observe_number, 1);
    CHECK(by_number.number == 1);
    CHECK(by_number.payload.read<std::uint64_t>() == 11);
    const paths::Result newest = t.operate(OperationKind::newest, 1);
    CHECK(newest.number == 2);
    CHECK(newest.payload.read<std::uint64_t>() == 12);
  });
}

TEST_CASE(
    "store: first and last and delta and set_delta and axe and delete_element reach the element") {
  Stored t(pastset::ElementOptions{.delta = 3});
  t.chain.run([&] {
    t.move(10);
    t.move(11);
    t.operate(OperationKind::observe);
    CHECK(t.operate(OperationKind::first).number == 1);
    CHECK(t.operate(OperationKind::last).number == 2);
    CHECK(t.operate(OperationKind::delta).number == 3);
    t.operate(OperationKind::set_delta, 7);
    CHECK(t.element->delta() == 7);
    t.operate(OperationKind::axe, 0);
    CHECK_THROWS_AS(t.element->observe(0), pastset::Expired);
    t.operate(OperationKind::delete_element);
    CHECK(t.element->is_deleted());
  });
}

TEST_CASE("store: release returns an empty result even if the element is deleted") {
  Stored t;
  t.chain.run([&] {
    t.operate(OperationKind::delete_element);
    CHECK(t.operate(OperationKind::release).payload.empty());
  });
}

TEST_CASE("store: enter requires the template of the element") {
  Stored t;
  t.chain.run([&] {
    paths::Operation enter = operation(OperationKind::enter);
    enter.payload = text(" u64 ");
    CHECK_NOTHROW(t.chain.operate(t.end, enter));
    enter.payload = text("u64, string");
    const std::string mismatch = thrown<TravelError>([&] { t.chain.operate(t.end, enter); });
    CHECK_THAT(mismatch, Catch::Contains("element 'work' has template \"u64\", not "
                                         "\"u64, string\""));
    enter.payload = text("u46");
    CHECK_THROWS_AS(t.chain.operate(t.end, enter), TravelError);
  });
}

TEST_CASE("store: a move blocks at the delta limit until a tuple is observed") {
  Stored t(pastset::ElementOptions{.delta = 1});
  t.chain.run([&] {
    runtime::Task mover = t.chain.spawn([&] {
      t.move(10);
      t.move(11);
      CHECK(t.chain.now() == 5ms);
    });
    t.chain.wait_until(5ms);
    CHECK(t.operate(OperationKind::observe).payload.read<std::uint64_t>() == 10);
    mover.join();
  });
}

TEST_CASE("store: errors name the element and the place and mark texts pass unchanged") {
  Stored t;
  t.chain.run([&] {
    t.element->mark_error("cluster beta: no tuple 3 before the deadline");
    try {
      t.operate(OperationKind::newest, 3);
      FAIL("no error");
    } catch (const TravelError& error) {
      CHECK(std::string(error.what()) == "cluster beta: no tuple 3 before the deadline");
    }
    try {
      t.chain.operate(t.end, move_of(Payload::of(std::uint32_t{1})));
      FAIL("no error");
    } catch (const TravelError& error) {
      CHECK_THAT(error.reason(), Catch::Contains("element 'work'"));
      CHECK(error.host() == "here");
      CHECK(error.wrapper() == "store.work");
    }
  });
}

TEST_CASE("store: with marks a failed move leaves a mark after earlier tuples") {
  Stored t({}, wrappers::StoreMarks::failures_and_end);
  t.chain.run([&] {
    t.move(10);
    paths::Operation failed = operation(OperationKind::move);
    failed.failure = t.chain.deployment().failure("push", 0, "round 2 failed");
    t.chain.operate(t.end, failed);
    CHECK(t.element->newest(0).payload.read<std::uint64_t>() == 10);
    CHECK_THAT(thrown<pastset::Marked>([&] { t.element->newest(1); }),
               Catch::Contains("round 2 failed"));
  });
}

TEST_CASE("store: with marks the end of a path leaves a mark that names the sender") {
  for (const bool is_lost : {false, true}) {
    Stored t({}, wrappers::StoreMarks::failures_and_end);
    t.chain.run([&] {
      paths::Operation release = operation(OperationKind::release);
      if (is_lost)
        release.failure = t.chain.deployment().failure("", 0, "host there is gone: it died");
      t.chain.operate(t.end, release);
      CHECK_THAT(t.element->error_mark().value_or("").text,
                 Catch::Contains(is_lost ? "host there is gone" : "host here has ended"));
    });
  }
}

TEST_CASE("store: with marks for failures an end without a failure leaves no mark") {
  Stored t({}, wrappers::StoreMarks::failures);
  t.chain.run([&] {
    paths::Operation release = operation(OperationKind::release);
    t.chain.operate(t.end, release);
    CHECK_FALSE(t.element->error_mark());
    release.failure = t.chain.deployment().failure("", 0, "host there is gone: it died");
    t.chain.operate(t.end, release);
    CHECK_THAT(t.element->error_mark().value_or("").text, Catch::Contains("host there is gone"));
  });
}

TEST_CASE("store: without marks failures and ends leave the element unmarked") {
  Stored t;
  t.chain.run([&] {
    paths::Operation failed = operation(OperationKind::move);
    failed.failure = t.chain.deployment().failure("push", 0, "round 2 failed");
    CHECK_THAT(thrown<TravelError>([&] { t.chain.operate(t.end, failed); }),
               Catch::Contains("round 2 failed"));
    t.chain.operate(t.end, operation(OperationKind::release));
    CHECK_FALSE(t.element->error_mark());
  });
}
