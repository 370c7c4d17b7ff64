// SPDX-License-Identifier: Apache-2.0
// tests/paths/ascent_test.cpp — the way up of operations that have no context.
#include "paths/ascent.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/allocations.hpp"

namespace {

using paths::Ascent;
using paths::Outcome;

struct Told final : paths::Trip {
  std::vector<Outcome> outcomes;
  void arrived(Outcome&& outcome) noexcept override { outcomes.push_back(std::move(outcome)); }
};

paths::Result numbered(std::uint64_t number) {
  paths::Result result;
  result.number = number;
  return result;
}

paths::Failure failure(const std::string& reason) {
  return std::make_shared<paths::TravelError>("h", "p", "w", reason);
}

}  // namespace

TEST_CASE("ascent: what stages left is done last first, and then who began it is told, once") {
  Told told;
  std::string order;
  Ascent ascent(told);
  for (const char stage : {'a', 'b', 'c'})
    ascent.then([&order, stage](Ascent up, Outcome&& outcome) {
      order += stage;
      ++outcome.result.number;
      up.answer(std::move(outcome));
    });
  ascent.answer(numbered(4));
  CHECK_FALSE(ascent);
  CHECK(order == "cba");
  REQUIRE(told.outcomes.size() == 1);
  CHECK(told.outcomes[0].result.number == 7);
}

TEST_CASE("ascent: a stage may keep it and answer later, or fail what went well") {
  Told told;
  Ascent kept;
  Ascent ascent(told);
  ascent.then([](Ascent up, const Outcome&) { up.fail(failure("on the way up")); });
  ascent.then([&kept](Ascent up, const Outcome&) { kept = std::move(up); });
  ascent.answer(numbered(1));
  CHECK(told.outcomes.empty());
  REQUIRE(kept);
  kept.answer(numbered(2));
  REQUIRE(told.outcomes.size() == 1);
  CHECK(told.outcomes[0].failure->reason() == "on the way up");
}

TEST_CASE("ascent: one that is dropped answers that the operation has ended") {
  Told told;
  bool has_passed = false;
  {
    Ascent ascent(told);
    ascent.then([&](Ascent up, Outcome&& outcome) {
      has_passed = true;
      up.answer(std::move(outcome));
    });
  }
  CHECK(has_passed);
  REQUIRE(told.outcomes.size() == 1);
  CHECK(told.outcomes[0].failure->reason() == "ended");
}

TEST_CASE("ascent: what is kept for an operation goes before its answer, whatever its size") {
  struct Large {
    explicit Large(std::shared_ptr<int> of) : shared(std::move(of)) {}
    std::shared_ptr<int> shared;
    std::array<std::byte, 900> bytes{};
  };
  const auto counted = std::make_shared<int>(0);
  Told told;
  Ascent ascent(told);
  for (int i = 0; i < 4; ++i) ascent.keep<Large>(counted);  // beyond the room of a trip
  CHECK(counted.use_count() == 5);
  for (int i = 0; i < 4; ++i) ascent.let_go_last();
  CHECK(counted.use_count() == 1);
  ascent.answer(numbered(3));
  CHECK(told.outcomes[0].result.number == 3);
}

TEST_CASE("ascent: a trip is made again and again without memory of its own") {
  Told told;
  told.outcomes.reserve(64);
  const std::uint64_t before = test_support::allocations();
  for (int i = 0; i < 20; ++i) {
    Ascent ascent(told);
    for (int stage = 0; stage < 6; ++stage)
      ascent.then([i, stage](Ascent up, Outcome&& outcome) {
        outcome.result.number += static_cast<std::uint64_t>(i + stage);
        up.answer(std::move(outcome));
      });
    ascent.answer(numbered(0));
  }
  CHECK(test_support::allocations() == before);
  CHECK(told.outcomes.size() == 20);
}
