// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/periodic_test.cpp — gate that passes every third round down the path.
#include "wrappers/periodic.hpp"

#include <catch2/catch.hpp>

#include "tests/wrappers/chain.hpp"

namespace {

using paths::Condition;
using paths::OperationKind;
using paths::Origin;
using paths::Result;
using paths::TravelError;
using namespace wrapper_tests;

struct Third {
  Result move(std::uint64_t sequence) {
    return chain.operate(top, move_of(base::Payload::of(std::uint64_t{7}), sequence));
  }
  Chain chain;
  Answer below{[](const paths::Operation& operation) {
    Result result;
    result.condition = Condition::holds;
    result.sequence = operation.sequence;
    return result;
  }};
  wrappers::Periodic periodic{3};
  const paths::Stage& end = chain.stage(below);
  const paths::Stage& top = chain.stage(periodic, &end);
};

}  // namespace

TEST_CASE("periodic: only rounds whose number counted from 1 is a multiple continue down") {
  Third t;
  t.chain.run([&] {
    for (std::uint64_t sequence = 0; sequence < 9; ++sequence) {
      const Result result = t.move(sequence);
      CHECK(result.sequence == sequence);
      const bool is_checked = sequence % 3 == 2;
      CHECK(result.condition == (is_checked ? Condition::holds : Condition::unchecked));
      if (is_checked) continue;
      CHECK(result.payload.read<std::uint64_t>() == 7);
      CHECK(result.contributions == 1);
      CHECK(result.origin.kind == Origin::Kind::local);
    }
    CHECK(t.chain.now() == base::Nanos(0));
  });
  REQUIRE(t.below.arrived.size() == 3);
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(t.below.arrived[i].sequence == 3 * i + 2);
}

TEST_CASE("periodic: operations other than moves continue down in every round") {
  Third t;
  t.chain.run([&] {
    t.chain.operate(t.top, operation(OperationKind::newest));
    t.chain.operate(t.top, operation(OperationKind::release));
  });
  CHECK(t.below.arrived.size() == 2);
}

TEST_CASE("periodic: a withdrawal counts below from the first checked round that will not arrive") {
  Third t;
  t.chain.run([&] {
    for (const std::uint64_t sequence : {0, 2, 3, 5, 6}) {
      paths::Operation withdrawal = operation(OperationKind::withdraw);
      withdrawal.sequence = sequence;
      t.chain.operate(t.top, withdrawal);
    }
  });
  std::vector<std::uint64_t> from;
  for (const paths::Operation& told : t.below.arrived) from.push_back(told.sequence);
  CHECK(from == std::vector<std::uint64_t>{0, 0, 3, 3, 6});
}

TEST_CASE("periodic: a failed contribution continues down only in checked rounds") {
  Third t;
  t.chain.run([&] {
    for (const std::uint64_t sequence : {1, 2}) {
      paths::Operation failed = move_of({}, sequence);
      failed.failure = t.chain.deployment().failure("above", 0, "no value");
      const std::string error =
          thrown<TravelError>([&] { t.chain.operate(t.top, std::move(failed)); });
      CHECK_THAT(error, Catch::Contains("no value") || Catch::Contains("nothing"));
      CHECK(t.below.arrived.size() == (sequence == 2 ? 1 : 0));
    }
  });
  CHECK(t.below.arrived[0].failure);
}
