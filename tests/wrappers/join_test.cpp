// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/join_test.cpp — rules that all kinds of join share.
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "paths/responder.hpp"
#include "tests/support/joined.hpp"

namespace {

using namespace std::chrono_literals;
using namespace test_support;

constexpr std::uint32_t contributors = 3;

struct Kind {
  std::string name;
  Words settings;
  bool marks_last_arriver = false;
};

/// Runs one round in which thread 0 arrives last. Returns for each thread whether its result has
/// the mark of the last arriver (Result::last_arriver). If `is_marked_below` is true, the result
/// from the stage below already has the mark, as if another join had set it.
std::array<bool, contributors> marked_by(const Kind& kind, bool is_marked_below) {
  PlanBuilder builder;
  const auto join = builder.wrapper(kind.name, "join", kind.settings);
  const auto end = builder.does("end", [=](paths::Operation operation, paths::Next) {
    paths::Result result;
    result.payload = operation.payload;
    result.last_arriver = is_marked_below;
    return result;
  });
  builder.path("graph", contributors, {join, end});
  OneHost here(builder);
  std::array<bool, contributors> marked = {};
  here.run([&] {
    here.together(contributors, [&](std::uint32_t thread) {
      here.sleep((contributors - thread) * 1ms);
      marked[thread] = here.move(0, thread, 0, base::Payload::of(1.0)).last_arriver;
    });
  });
  return marked;
}

/// End of a path. It records the operations that arrive, including failed contributions.
class End final : public paths::Wrapper {
 public:
  explicit End(std::vector<paths::OperationKind>& seen) : seen_(seen) {}
  void handle(paths::Operation&& operation, paths::Next, paths::Responder& responder) override {
    seen_.push_back(operation.kind);
    responder.reply(paths::Result{});
  }
  bool sees_failed_operations() const override { return true; }

 private:
  std::vector<paths::OperationKind>& seen_;
};

/// State of an operation that waits without a context.
struct Parked final : paths::ServiceRoom, paths::OperationState {
  Parked() : OperationState(room) {}
  void arrived(paths::Outcome&& outcome) noexcept override { failure = outcome.failure; }
  paths::Failure failure;
};

}  // namespace

TEST_CASE("join: of a round that a withdrawal fails only the withdrawal continues down") {
  const auto clock = GENERATE(runtime::ClockKind::virtual_time, runtime::ClockKind::steady);
  const Kind kind = GENERATE(Kind{"allreduce", {{"template", "f64"}}}, Kind{"barrier", {}},
                             Kind{"reduce", {{"template", "f64"}}});
  INFO(kind.name);
  std::vector<paths::OperationKind> seen;
  PlanBuilder builder;
  const auto join = builder.wrapper(kind.name, "join", kind.settings);
  const auto end =
      builder.made("end", false, [&](paths::Deployment&) { return std::make_unique<End>(seen); });
  builder.path("graph", 2, {join, end});
  OneHost here(builder, clock);
  Parked parked;
  here.run([&] {
    paths::Operation waits = here.operation(0, 0, 0);
    if (!kind.settings.empty()) waits.payload = base::Payload::of(1.0);
    const paths::Stage& first = *here.deployment().instance().stage(0);
    paths::begin_stage(here.deployment(), first, std::move(waits), paths::Responder(parked));
    paths::Operation leaves = here.operation(0, 1, 0, paths::OperationKind::withdraw);
    leaves.one_way = true;
    here.operate(std::move(leaves));
    here.sleep(1ms);  // ends after all ready contexts have run, so the waiter has resumed
  });
  REQUIRE(parked.failure != nullptr);
  CHECK_THAT(parked.failure->reason(), Catch::Contains("round 0: "));
  CHECK(seen == std::vector<paths::OperationKind>{paths::OperationKind::withdraw});
}

TEST_CASE("join: an operation without a context fails at the deadline and names the missing one") {
  PlanBuilder builder;
  builder.set_deadline(50ms);
  const auto join = builder.wrapper("barrier", "join", Words{});
  const auto end =
      builder.does("end", [](paths::Operation, paths::Next) { return paths::Result(); });
  builder.path("graph", 2, {join, end});
  OneHost here(builder);
  Parked parked;
  here.run([&] {
    const paths::Stage& first = *here.deployment().instance().stage(0);
    paths::begin_stage(here.deployment(), first, here.operation(0, 0, 0), paths::Responder(parked));
    here.sleep(49ms);
    CHECK(parked.failure == nullptr);
    here.sleep(2ms);
  });
  REQUIRE(parked.failure != nullptr);
  CHECK_THAT(parked.failure->reason(), Catch::EndsWith("missing at the deadline: thread here/1"));
}

TEST_CASE(
    "join: an allreduce and a barrier mark only the last arriver's result and others mark none") {
  const std::vector<Kind> kinds = {{"allreduce", {{"template", "f64"}}, true},
                                   {"barrier", {}, true},
                                   {"broadcast", {{"from", "1"}}, false},
                                   {"broadcast", {}, false},
                                   {"reduce", {{"template", "f64"}}, false}};
  for (const Kind& kind : kinds) {
    for (const bool is_marked_below : {false, true}) {
      INFO(kind.name << (kind.settings.empty() ? "" : " with settings")
                     << (is_marked_below ? ", marked below" : ""));
      CHECK(marked_by(kind, is_marked_below) ==
            std::array<bool, contributors>{kind.marks_last_arriver, false, false});
    }
  }
}
