// SPDX-License-Identifier: Apache-2.0
// tests/paths/responder_test.cpp — steps of an operation on its way up, and its only reply.
#include "paths/responder.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "runtime/wait.hpp"
#include "tests/support/allocations.hpp"

namespace {

using paths::Outcome;
using paths::Responder;

struct Waiter final : paths::ServiceRoom, paths::OperationState {
  explicit Waiter(bool owns_context = false) : OperationState(room, owns_context) {}
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

TEST_CASE("responder: steps run from the last to the first and then the caller gets one outcome") {
  Waiter told;
  std::string order;
  Responder responder(told);
  for (const char stage : {'a', 'b', 'c'})
    responder.on_reply([&order, stage](Responder up, Outcome&& outcome) {
      order += stage;
      ++outcome.result.number;
      up.reply(std::move(outcome));
    });
  responder.reply(numbered(4));
  CHECK_FALSE(responder);
  CHECK(order == "cba");
  REQUIRE(told.outcomes.size() == 1);
  CHECK(told.outcomes[0].result.number == 7);
}

TEST_CASE("responder: a stage may reply later or fail an operation that succeeded") {
  Waiter told;
  Responder kept;
  Responder responder(told);
  responder.on_reply([](Responder up, const Outcome&) { up.fail(failure("on the way up")); });
  responder.on_reply([&kept](Responder up, const Outcome&) { kept = std::move(up); });
  responder.reply(numbered(1));
  CHECK(told.outcomes.empty());
  REQUIRE(kept);
  kept.reply(numbered(2));
  REQUIRE(told.outcomes.size() == 1);
  CHECK(told.outcomes[0].failure->reason() == "on the way up");
}

TEST_CASE("responder: a responder that is destroyed without a reply fails the operation") {
  Waiter told;
  bool has_passed = false;
  {
    Responder responder(told);
    responder.on_reply([&](Responder up, Outcome&& outcome) {
      has_passed = true;
      up.reply(std::move(outcome));
    });
  }
  CHECK(has_passed);
  REQUIRE(told.outcomes.size() == 1);
  CHECK(told.outcomes[0].failure->reason() == "ended");
}

TEST_CASE("responder: objects of any size live until the reply") {
  struct Large {
    explicit Large(std::shared_ptr<int> of) : shared(std::move(of)) {}
    std::shared_ptr<int> shared;
    std::array<std::byte, 900> bytes{};
  };
  const auto counted = std::make_shared<int>(0);
  Waiter told;
  Responder responder(told);
  for (int i = 0; i < 4; ++i)
    responder.emplace_state<Large>(counted);  // four Large do not fit into the state's own memory
  CHECK(counted.use_count() == 5);
  for (int i = 0; i < 4; ++i) responder.pop_state();
  CHECK(counted.use_count() == 1);
  responder.reply(numbered(3));
  CHECK(told.outcomes[0].result.number == 3);
}

TEST_CASE("responder: a reused state allocates no memory") {
  Waiter told;
  told.outcomes.reserve(64);
  const std::uint64_t before = test_support::allocations();
  for (int i = 0; i < 20; ++i) {
    Responder responder(told);
    for (int stage = 0; stage < 6; ++stage)
      responder.on_reply([i, stage](Responder up, Outcome&& outcome) {
        outcome.result.number += static_cast<std::uint64_t>(i + stage);
        up.reply(std::move(outcome));
      });
    responder.reply(numbered(0));
  }
  CHECK(test_support::allocations() == before);
  CHECK(told.outcomes.size() == 20);
}

TEST_CASE("responder: a Stop reaches the caller and its failure reaches the steps of the way up") {
  struct Stopped final : paths::StateRoom<256>, paths::OperationState {
    Stopped() : OperationState(room, true) {}
    void arrived(Outcome&& outcome) noexcept override { reason = outcome.failure->reason(); }
    void stopped(std::exception_ptr why) noexcept override { stop = std::move(why); }
    std::exception_ptr stop;
    std::string reason;
  } stopped;
  std::string passed;
  {
    Responder responder(stopped);
    CHECK(responder.owns_context());
    responder.on_reply([&passed](Responder up, Outcome&& outcome) {
      passed = outcome.failure->reason();
      up.reply(std::move(outcome));
    });
    responder.stop(std::make_exception_ptr(runtime::Cancelled()), failure("cancelled"));
  }
  CHECK(passed == "cancelled");
  CHECK(stopped.reason == "cancelled");
  CHECK_THROWS_AS(std::rethrow_exception(stopped.stop), runtime::Cancelled);
}
