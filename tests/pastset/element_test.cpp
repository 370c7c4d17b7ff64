// SPDX-License-Identifier: Apache-2.0
// tests/pastset/element_test.cpp — operations of an element that do not wait.
#include <array>
#include <catch2/catch.hpp>
#include <limits>

#include "pastset/local_element.hpp"
#include "runtime/random.hpp"
#include "tests/pastset/numbers.hpp"

using base::Payload;
using pastset::Element;
using pastset::LocalElement;
using pastset::Template;
using namespace test_support;

namespace {

void move_values(Element& element, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) element.move(tuple(100 + element.last()));
}

}  // namespace

TEST_CASE("element: tuples are numbered from 0 and first == last if none is unobserved") {
  LocalElement element("e", number);
  CHECK(element.first() == 0);
  CHECK(element.last() == 0);
  CHECK_FALSE(element.try_observe());
  CHECK(element.move(tuple(100)) == 0);
  CHECK(element.move(tuple(101)) == 1);
  CHECK(element.first() == 0);
  CHECK(element.last() == 2);
  CHECK(element.observe().number == 0);
  CHECK(element.try_observe()->number == 1);
  CHECK(element.first() == element.last());
  CHECK_FALSE(element.try_observe());
}

TEST_CASE("element: observe() takes the oldest unobserved tuple and observe(n) keeps first") {
  LocalElement element("e", number);
  move_values(element, 3);
  CHECK(value_of(element.observe(2)) == 102);
  CHECK(element.first() == 0);
  CHECK(value_of(element.observe()) == 100);
  CHECK(value_of(element.observe()) == 101);
  CHECK(element.first() == 2);
  CHECK(value_of(element.observe(0)) == 100);  // reading does not remove a tuple
  CHECK(element.first() == 2);
}

TEST_CASE("element: delta 0 is unlimited") {
  LocalElement element("e", number, {.delta = 0});
  move_values(element, 10000);
  CHECK(element.last() - element.first() == 10000);
}

TEST_CASE("element: a tuple that does not match the template is refused and changes nothing") {
  LocalElement element("sum", *Template::parse("u64, bool"));
  CHECK_THROWS_AS(element.move(tuple(1)), pastset::TemplateMismatch);
  CHECK_THROWS_WITH(element.move(tuple(1)), Catch::Contains("element 'sum'") &&
                                                Catch::Contains("values of type u64") &&
                                                Catch::Contains("\"u64, bool\""));
  const base::Payload untyped = base::Payload::copy_of(tuple(1).bytes());
  CHECK_THROWS_WITH(element.move(untyped), Catch::Contains("element 'sum'") &&
                                               Catch::Contains("8 bytes") &&
                                               Catch::Contains("takes 9"));
  CHECK(element.last() == 0);
}

TEST_CASE("element: axe frees its number and all older ones") {
  LocalElement element("e", number);
  move_values(element, 5);
  for (int i = 0; i < 5; ++i) element.observe();
  element.axe(0);
  CHECK_THROWS_AS(element.observe(0), pastset::Expired);
  CHECK(value_of(element.observe(1)) == 101);  // the oldest kept tuple is readable
  element.axe(2);
  CHECK_THROWS_AS(element.observe(2), pastset::Expired);
  CHECK(value_of(element.observe(3)) == 103);
  element.axe(1);
  element.axe(2);
  CHECK(value_of(element.observe(3)) == 103);
  CHECK_THROWS_WITH(element.observe(1), "element 'e': tuple 1 is gone, the oldest kept is 3");
}

TEST_CASE("element: axe never frees an unobserved tuple") {
  LocalElement element("e", number);
  element.axe(0);
  move_values(element, 3);
  element.axe(std::numeric_limits<std::uint64_t>::max());
  CHECK(value_of(element.observe(0)) == 100);
  element.observe();
  element.axe(std::numeric_limits<std::uint64_t>::max());
  CHECK_THROWS_AS(element.observe(0), pastset::Expired);
  CHECK(value_of(element.observe()) == 101);
  CHECK(element.last() == 3);
  CHECK(element.first() == 2);
}

TEST_CASE("element: random moves and observes and axes match the model") {
  const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 21));
  INFO("seed " << seed);
  runtime::Random random(seed);
  LocalElement element("e", number);
  std::uint64_t oldest = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  for (int step = 0; step < 500; ++step) {
    const std::uint64_t at = random.below(last + 3);
    switch (random.below(4)) {
      case 0:
        CHECK(element.move(tuple(last)) == last);
        ++last;
        break;
      case 1:
        CHECK(element.try_observe().has_value() == (first < last));
        first = std::min(first + 1, last);
        break;
      case 2:
        element.axe(at);
        oldest = std::max(oldest, std::min(at + 1, first));
        break;
      default:
        if (at >= last) break;
        if (at < oldest) {
          CHECK_THROWS_AS(element.observe(at), pastset::Expired);
        } else {
          CHECK(value_of(element.observe(at)) == at);
        }
    }
    CHECK(element.first() == first);
    CHECK(element.last() == last);
  }
}

TEST_CASE("element: keep_newest never blocks a move and raises first to the oldest kept tuple") {
  LocalElement element("e", number, {.delta = 1, .keep_newest = 2});
  move_values(element, 5);
  CHECK(element.last() == 5);
  CHECK(element.first() == 3);
  CHECK_THROWS_AS(element.observe(2), pastset::Expired);
  CHECK(element.observe().number == 3);
  CHECK(element.observe().number == 4);
  move_values(element, 1);
  CHECK(element.first() == 5);  // first() stays 5, although the oldest kept tuple is 4
  CHECK(value_of(element.observe(4)) == 104);
}

TEST_CASE("element: newest returns the newest tuple from a number on and keeps first") {
  LocalElement element("e", number);
  CHECK_FALSE(element.try_newest());
  move_values(element, 3);
  CHECK(element.newest().number == 2);
  CHECK(value_of(element.newest(2)) == 102);
  CHECK(element.try_newest()->number == 2);
  CHECK(element.first() == 0);
}

TEST_CASE("element: a newest tuple that axe freed is no longer returned") {
  LocalElement element("e", number);
  move_values(element, 1);
  element.observe();
  element.axe(0);
  CHECK_FALSE(element.try_newest());
  CHECK(element.last() == 1);
  CHECK(element.move(tuple(7)) == 1);
  CHECK(value_of(element.newest()) == 7);
}

TEST_CASE("element: an error mark stays and tuples stay readable") {
  LocalElement element("e", number);
  CHECK_FALSE(element.error_mark());
  move_values(element, 1);
  element.mark_error("host beta is gone");
  element.mark_error("a later one");
  CHECK(element.error_mark().value().text == "host beta is gone");
  CHECK(element.newest(0).number == 0);
  CHECK_THROWS_AS(element.newest(1), pastset::Marked);
  CHECK_THROWS_WITH(element.newest(1), "host beta is gone");
  CHECK(element.move(tuple(1)) == 1);
  CHECK(element.newest(1).number == 1);
  CHECK(element.observe().number == 0);
  CHECK(element.observe().number == 1);
  CHECK_THROWS_WITH(element.observe(), "host beta is gone");
  CHECK(element.observe(1).number == 1);
  CHECK_THROWS_WITH(element.observe(2), "host beta is gone");
}

TEST_CASE("element: every operation after a delete throws Deleted") {
  LocalElement element("gone", number);
  move_values(element, 1);
  element.delete_element();
  element.delete_element();
  CHECK(element.is_deleted());
  const auto says_deleted = [](auto operation) {
    CHECK_THROWS_AS(operation(), pastset::Deleted);
    CHECK_THROWS_WITH(operation(), "element 'gone' was deleted");
  };
  says_deleted([&] { element.move(tuple(1)); });
  says_deleted([&] { element.observe(); });
  says_deleted([&] { element.observe(0); });
  says_deleted([&] { element.try_observe(); });
  says_deleted([&] { element.newest(); });
  says_deleted([&] { element.try_newest(); });
  says_deleted([&] { element.first(); });
  says_deleted([&] { element.last(); });
  says_deleted([&] { element.delta(); });
  says_deleted([&] { element.set_delta(1); });
  says_deleted([&] { element.axe(0); });
  says_deleted([&] { element.mark_error("x"); });
  says_deleted([&] { element.error_mark(); });
}

TEST_CASE("element: X-functions store any bytes and return tuples of the template") {
  const auto in = [](const Payload& payload) {
    return Payload::of(static_cast<std::uint8_t>(payload.read<std::uint64_t>()));
  };
  const auto out = [](const Payload& stored) {
    return tuple(stored.read<std::uint8_t>() + std::uint64_t{1000});
  };
  LocalElement element("e", number, {.x_function = {in, out}});
  element.move(tuple(5));
  CHECK(value_of(element.observe(0)) == 1005);
  CHECK(value_of(element.newest()) == 1005);
  CHECK(value_of(*element.try_newest()) == 1005);
  CHECK(value_of(element.observe()) == 1005);

  LocalElement only_in("e", number, {.x_function = {in, {}}});
  CHECK_THROWS_AS(only_in.move(tuple(5)), pastset::TemplateMismatch);
  CHECK(only_in.last() == 0);
}

TEST_CASE("element: an X-function that throws changes nothing") {
  bool broken = true;
  const auto maybe = [&](const Payload& payload) {
    if (broken) throw std::runtime_error("X");
    return payload;
  };
  LocalElement moved("e", number, {.x_function = {maybe, {}}});
  CHECK_THROWS_WITH(moved.move(tuple(1)), "X");
  CHECK(moved.last() == 0);
  broken = false;
  CHECK(moved.move(tuple(1)) == 0);

  LocalElement observed("e", number, {.x_function = {{}, maybe}});
  observed.move(tuple(1));
  broken = true;
  CHECK_THROWS_WITH(observed.observe(), "X");
  CHECK_THROWS_WITH(observed.try_observe(), "X");
  CHECK_THROWS_WITH(observed.newest(), "X");
  CHECK(observed.first() == 0);
  broken = false;
  CHECK(observed.observe().number == 0);
}

TEST_CASE("element: a freed payload is released without holding the element's mutex") {
  const std::array<std::byte, 8> bytes{};
  int released = 0;
  LocalElement element("e", number, {.keep_newest = 1});
  const auto borrowed = [&] {
    return Payload::adopt(bytes, [&] {
      element.is_deleted();  // would block forever if the mutex were held
      ++released;
    });
  };
  element.move(borrowed());
  element.move(borrowed());
  CHECK(released == 1);
  element.observe();
  element.axe(1);
  CHECK(released == 2);
  element.move(borrowed());
  element.delete_element();
  CHECK(released == 3);
}
