// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/observe_test.cpp — the wrapper `observe`, which ends a path that only reads an
// element.
#include "wrappers/observe.hpp"

#include <catch2/catch.hpp>

#include "pastset/local_element.hpp"
#include "tests/wrappers/chain.hpp"

namespace {

using base::Payload;
using paths::OperationKind;
using paths::TravelError;
using namespace std::chrono_literals;
using namespace wrapper_tests;

struct Read {
  Chain chain;
  std::shared_ptr<pastset::Element> element =
      std::make_shared<pastset::LocalElement>("work", *pastset::Template::parse("u64"));
  wrappers::Observe observe{element};
  const paths::Stage& end = chain.stage(observe);

  paths::Result operate(OperationKind kind, std::uint64_t number = 0) {
    return chain.operate(end, operation(kind, number));
  }
};

}  // namespace

TEST_CASE("observe: it reads like a store") {
  Read t;
  t.chain.run([&] {
    for (std::uint64_t value : {10, 11, 12}) t.element->move(Payload::of(value));
    CHECK(t.operate(OperationKind::observe).payload.read<std::uint64_t>() == 10);
    CHECK(t.operate(OperationKind::observe).payload.read<std::uint64_t>() == 11);
    CHECK(t.operate(OperationKind::observe_number, 0).payload.read<std::uint64_t>() == 10);
    CHECK(t.operate(OperationKind::newest).number == 2);
    CHECK(t.operate(OperationKind::first).number == 2);
    CHECK(t.operate(OperationKind::last).number == 3);
    CHECK(t.operate(OperationKind::delta).number == 0);
    CHECK_NOTHROW(t.operate(OperationKind::release));
  });
}

TEST_CASE("observe: a read waits for a tuple that has not arrived") {
  Read t;
  t.chain.run([&] {
    runtime::Task mover = t.chain.spawn([&] {
      t.chain.wait_until(3ms);
      t.element->move(Payload::of(std::uint64_t{10}));
    });
    CHECK(t.operate(OperationKind::observe).number == 0);
    CHECK(t.chain.now() == 3ms);
    mover.join();
  });
}

TEST_CASE(
    "observe: an operation that would change the element is refused by name and changes nothing") {
  Read t;
  t.observe.set_name("reader");
  t.chain.run([&] {
    for (const OperationKind kind : {OperationKind::move, OperationKind::set_delta,
                                     OperationKind::axe, OperationKind::delete_element}) {
      const std::string error = thrown<TravelError>([&] { t.operate(kind); });
      const std::string name(paths::operation_name(kind));
      CHECK_THAT(error, Catch::Contains("element 'work': " + name + " is refused"));
      CHECK_THAT(error, Catch::Contains("reader"));
    }
    CHECK(t.element->last() == 0);
    CHECK_FALSE(t.element->is_deleted());
  });
}
