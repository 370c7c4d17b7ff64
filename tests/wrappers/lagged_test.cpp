// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/lagged_test.cpp — rounds whose results are returned by later rounds.
#include "wrappers/lagged.hpp"

#include <catch2/catch.hpp>

#include "tests/wrappers/chain.hpp"

namespace {

using paths::Condition;
using paths::OperationKind;
using paths::Origin;
using paths::Result;
using paths::TravelError;
using namespace std::chrono_literals;
using namespace wrapper_tests;

/// A wrapper that returns results two rounds late. The end below it takes 10 ms and fails in one
/// round.
struct Late {
  Result move(std::uint64_t sequence, std::uint32_t slot = 0) {
    paths::Operation moved = move_of(base::Payload::of(100 + sequence), sequence);
    moved.slot = slot;
    return chain.operate(top, std::move(moved));
  }
  Result fail(std::uint64_t sequence) {
    paths::Operation failed = move_of({}, sequence);
    failed.failure = chain.deployment().failure("above", 0, "no value");
    return chain.operate(top, std::move(failed));
  }
  Chain chain;
  std::uint64_t refused = ~std::uint64_t{0};
  Answer below{[this](const paths::Operation& operation) {
    if (operation.failure) throw TravelError(*operation.failure);
    if (!paths::is_farewell(operation.kind)) chain.deployment().runtime().sleep_for(10ms);
    if (operation.sequence == refused) throw std::runtime_error("refused");
    Result result;
    result.condition = Condition::fails;
    result.sequence = operation.sequence;
    result.payload = operation.payload;
    return result;
  }};
  wrappers::Lagged lagged{chain.deployment(), 2};
  const paths::Stage& end = chain.stage(below);
  const paths::Stage& top = chain.stage(lagged, &end);
};

}  // namespace

TEST_CASE("lagged: the first rounds return at once with the own value and no condition") {
  Late t;
  t.chain.run([&] {
    for (const std::uint64_t sequence : {0, 1}) {
      const Result result = t.move(sequence);
      CHECK(result.condition == Condition::unchecked);
      CHECK(result.sequence == sequence);
      CHECK(result.payload.read<std::uint64_t>() == 100 + sequence);
      CHECK(result.origin.kind == Origin::Kind::local);
    }
    CHECK(t.chain.now() == 0ns);
    t.chain.wait_until(10ms);
  });
}

TEST_CASE("lagged: each later round returns an earlier round's result as soon as it has arrived") {
  Late t;
  t.chain.run([&] {
    t.move(0);
    t.chain.wait_until(4ms);
    t.move(1);
    CHECK(t.move(2).sequence == 0);
    CHECK(t.chain.now() == 10ms);
    t.chain.wait_until(30ms);
    const Result result = t.move(3);
    CHECK(t.chain.now() == 30ms);  // no wait: the result arrived before 30 ms
    CHECK(result.sequence == 1);
    CHECK(result.condition == Condition::fails);
    CHECK(result.payload.read<std::uint64_t>() == 101);
    t.chain.wait_until(40ms);
  });
  REQUIRE(t.below.times.size() == 4);
  CHECK(t.below.times[1] == base::Nanos(4ms));
  CHECK(t.below.times[3] == base::Nanos(30ms));
}

TEST_CASE("lagged: contributors do not mix") {
  Late t;
  t.chain.run([&] {
    for (const std::uint64_t sequence : {0, 1}) t.move(sequence, 0);
    CHECK(t.move(0, 1).condition == Condition::unchecked);
    CHECK(t.move(2, 0).sequence == 0);
    CHECK(t.move(1, 1).condition == Condition::unchecked);
    t.chain.wait_until(1s);
  });
}

TEST_CASE("lagged: the error of a round is thrown when it is due and the next one proceeds") {
  Late t;
  t.refused = 1;
  t.chain.run([&] {
    for (std::uint64_t sequence = 0; sequence < 5; ++sequence) {
      if (sequence == 3) {
        CHECK_THAT(thrown<TravelError>([&] { t.move(3); }), Catch::Contains("refused"));
      } else {
        CHECK(t.move(sequence).sequence == (sequence < 2 ? sequence : sequence - 2));
      }
    }
    t.chain.wait_until(1s);
  });
}

TEST_CASE("lagged: a failed contribution continues down at once and is due later") {
  Late t;
  t.chain.run([&] {
    for (const std::uint64_t sequence : {0, 1, 2}) t.move(sequence);
    CHECK_THAT(thrown<TravelError>([&] { t.fail(3); }), Catch::Contains("no value"));
    CHECK(t.below.arrived.back().failure);
    CHECK(t.move(4).sequence == 2);  // results of later rounds are still two rounds late
    CHECK_THAT(thrown<TravelError>([&] { t.move(5); }), Catch::Contains("no value"));
    CHECK(t.move(6).sequence == 4);
    t.chain.wait_until(1s);
  });
}

TEST_CASE(
    "lagged: a release continues down after all results but announces the withdrawal before") {
  Late t;
  t.refused = 1;  // number of the round whose operation fails
  t.chain.run([&] {
    for (const std::uint64_t sequence : {0, 1}) t.move(sequence);
    t.chain.wait_until(3ms);
    t.chain.operate(t.top, operation(OperationKind::release));
  });
  REQUIRE(t.below.arrived.size() == 4);
  CHECK(t.below.arrived[2].kind == OperationKind::withdraw);
  CHECK(t.below.times[2] == base::Nanos(3ms));
  CHECK(t.below.arrived.back().kind == OperationKind::release);
  CHECK(t.below.times.back() == base::Nanos(10ms));
}
