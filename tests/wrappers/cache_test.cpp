// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/cache_test.cpp — reads that the cache serves, and reads that continue down.
#include "wrappers/cache.hpp"

#include <catch2/catch.hpp>

#include "tests/wrappers/chain.hpp"

namespace {

using base::Payload;
using paths::OperationKind;
using namespace wrapper_tests;

/// Returns the reply of an element below the cache to a read. The value of each tuple is ten times
/// its number. The newest tuple has the number 7.
paths::Result tuple(const paths::Operation& operation) {
  paths::Result result;
  result.number = operation.kind == OperationKind::observe_number ? operation.number : 7;
  result.sequence = operation.sequence;
  result.payload = Payload::of(result.number * 10);
  return result;
}

struct Cached {
  explicit Cached(std::size_t keep, Answer::Function below = tuple)
      : element(std::move(below)), cache(keep) {}
  Chain chain;
  Answer element;
  wrappers::Cache cache;
  const paths::Stage& end = chain.stage(element);
  const paths::Stage& top = chain.stage(cache, &end);

  std::uint64_t read(OperationKind kind, std::uint64_t number = 0) {
    return chain.operate(top, operation(kind, number)).payload.read<std::uint64_t>();
  }
  std::size_t went_down() const { return element.arrived.size(); }
};

}  // namespace

TEST_CASE("cache: a tuple that passed is not fetched again") {
  Cached t(1);
  t.chain.run([&] {
    CHECK(t.read(OperationKind::observe_number, 3) == 30);
    paths::Operation again = operation(OperationKind::observe_number, 3);
    again.sequence = 9;
    const paths::Result result = t.chain.operate(t.top, again);
    CHECK(result.payload.read<std::uint64_t>() == 30);
    CHECK(result.number == 3);
    CHECK(result.sequence == 9);
    CHECK(t.went_down() == 1);
    CHECK(t.read(OperationKind::observe_number, 4) == 40);
    CHECK(t.went_down() == 2);
  });
}

TEST_CASE("cache: it keeps the tuples of the highest numbers in any order of arrival") {
  Cached t(2);
  t.chain.run([&] {
    for (std::uint64_t number : {5, 3, 6, 1}) t.read(OperationKind::observe_number, number);
    CHECK(t.went_down() == 4);
    t.read(OperationKind::observe_number, 5);
    t.read(OperationKind::observe_number, 6);
    CHECK(t.went_down() == 4);
    t.read(OperationKind::observe_number, 3);
    CHECK(t.went_down() == 5);
  });
}

TEST_CASE("cache: newest returns the kept tuple if it is new enough") {
  Cached t(1);
  t.chain.run([&] {
    t.read(OperationKind::observe_number, 4);
    CHECK(t.read(OperationKind::newest, 4) == 40);
    CHECK(t.went_down() == 1);
    CHECK(t.read(OperationKind::newest, 5) == 70);
    CHECK(t.went_down() == 2);
    CHECK(t.read(OperationKind::newest, 0) == 70);
    CHECK(t.went_down() == 2);
  });
}

TEST_CASE("cache: observe always continues down and its result is kept") {
  Cached t(1);
  t.chain.run([&] {
    t.read(OperationKind::observe);
    t.read(OperationKind::observe);
    CHECK(t.went_down() == 2);
    CHECK(t.read(OperationKind::observe_number, 7) == 70);
    CHECK(t.went_down() == 2);
  });
}

TEST_CASE("cache: axe and delete_element discard kept tuples") {
  Cached t(3);
  t.chain.run([&] {
    for (std::uint64_t number : {1, 2, 3}) t.read(OperationKind::observe_number, number);
    t.read(OperationKind::axe, 2);
    CHECK(t.went_down() == 4);
    t.read(OperationKind::observe_number, 3);
    CHECK(t.went_down() == 4);
    t.read(OperationKind::observe_number, 2);
    CHECK(t.went_down() == 5);
    t.read(OperationKind::delete_element);
    t.read(OperationKind::observe_number, 3);
    CHECK(t.went_down() == 7);
  });
}

TEST_CASE("cache: moves and operations on the element pass through") {
  Cached t(1);
  t.chain.run([&] {
    for (const OperationKind kind :
         {OperationKind::move, OperationKind::first, OperationKind::last, OperationKind::delta,
          OperationKind::set_delta, OperationKind::enter, OperationKind::release}) {
      t.read(kind);
      t.read(kind);
    }
    CHECK(t.went_down() == 14);
    CHECK(t.read(OperationKind::observe_number, 7) == 70);
    CHECK(t.went_down() == 15);  // all reads went down, so the cache kept no result
  });
}

TEST_CASE("cache: a failed read is not kept") {
  bool fail = true;
  Cached t(1, [&](const paths::Operation& operation) {
    if (std::exchange(fail, false)) throw std::runtime_error("gone");
    return tuple(operation);
  });
  t.chain.run([&] {
    CHECK_THROWS_AS(t.read(OperationKind::observe_number, 2), paths::TravelError);
    CHECK(t.read(OperationKind::observe_number, 2) == 20);
  });
}
