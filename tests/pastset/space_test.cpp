// SPDX-License-Identifier: Apache-2.0
// tests/pastset/space_test.cpp — the elements of a space, found by name.
#include "pastset/space.hpp"

#include <catch2/catch.hpp>

#include "tests/pastset/numbers.hpp"

using pastset::Space;
using pastset::Template;
using namespace test_support;

TEST_CASE("space: enter makes the element once and then finds it") {
  Space space;
  CHECK(space.find("a") == nullptr);
  const auto a = space.enter("a", number, {.delta = 3});
  CHECK(a->name() == "a");
  CHECK(a->tuple_template() == number);
  CHECK(space.enter("a", number, {.delta = 5}) == a);
  CHECK(a->delta() == 3);
  CHECK(space.find("a") == a);
  CHECK(space.enter("b", number) != a);
  CHECK(space.names() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("space: enter with another template is refused and names both") {
  Space space;
  space.enter("a", number);
  CHECK_THROWS_AS(space.enter("a", *Template::parse("x: u64")), pastset::TemplateMismatch);
  CHECK_THROWS_WITH(space.enter("a", *Template::parse("f64")),
                    "element 'a' has template \"u64\", not \"f64\"");
}

TEST_CASE("space: after a delete enter makes a new empty element and old handles stay dead") {
  Space space;
  const auto old = space.enter("a", number);
  old->move(tuple(1));
  space.delete_element("a");
  space.delete_element("a");
  CHECK(space.find("a") == nullptr);
  CHECK(space.names().empty());
  CHECK_THROWS_AS(old->last(), pastset::Deleted);
  const auto fresh = space.enter("a", *Template::parse("f64"));
  CHECK(fresh->last() == 0);
  CHECK_THROWS_AS(old->move(tuple(1)), pastset::Deleted);
}

TEST_CASE("space: an element deleted through a handle is removed from the space") {
  Space space;
  const auto old = space.enter("a", number);
  old->delete_element();
  CHECK(space.find("a") == nullptr);
  CHECK(space.names().empty());
  CHECK(space.enter("a", number) != old);
}

TEST_CASE("space: handles outlive the space") {
  auto space = std::make_unique<Space>();
  const auto a = space->enter("a", number);
  space.reset();
  CHECK(a->move(tuple(1)) == 0);
}
