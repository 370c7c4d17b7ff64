// SPDX-License-Identifier: Apache-2.0
// tests/paths/validator_test.cpp — checks of each field of operations that arrive from other hosts.
#include "paths/host/requests/validator.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/sim.hpp"

namespace {

using namespace paths;
using Kind = Validator::Verdict::Kind;

/// Config in which two threads of host "far" reach host "here". Each thread has a separate path to
/// element `log`. The paths of the two threads to element `sum` meet in a wrapper on "far": an
/// allreduce or a broadcast.
const char* const config = R"(
hosts:
  here: {cluster: alpha, threads: 1, address: "tcp://127.0.0.1:7700"}
  far: {cluster: alpha, threads: 2, address: "tcp://127.0.0.1:7701"}
elements:
  log: {host: here, template: f64}
  sum: {host: here, template: f64}
wrappers:
  join: {kind: allreduce, host: far, template: f64}
  top: {kind: allreduce, host: here, template: f64}
  words: {kind: broadcast, host: far}
  word: {kind: broadcast, host: here, from: 0}
paths:
  - {graph: log, host: far, threads: 0-1, through: [forward: {to: here}, store: {element: log}]}
  - {graph: sum, host: here, threads: 0, through: [top, store: {element: sum}]}
  - {graph: sum, host: far, threads: 0-1,
     through: [join, forward: {to: here}, top, store: {element: sum}]}
  - {graph: word, host: here, threads: 0, through: [word, store: {element: sum}]}
  - {graph: word, host: far, threads: 0-1,
     through: [words, forward: {to: here}, word, store: {element: sum}]}
)";

struct Entry {
  const test_support::Sim sim{config};
  const Plan& plan = sim.plan();
  Validator validator{plan, *plan.host_named("here"), sim.kinds()};

  /// Returns a frame as thread 1 on "far" sends it on its path of `graph`.
  Frame frame(const std::string& graph, OperationKind kind, std::uint64_t sequence = 0) const {
    Frame made;
    made.from_host = *plan.host_named("far");
    Operation& operation = made.operation;
    operation.kind = kind;
    operation.sequence = sequence;
    operation.thread = 1;
    for (std::uint32_t number = 0; number < plan.paths.size(); ++number)
      if (plan.paths[number].graph == graph && plan.paths[number].host == made.from_host)
        operation.path = number;
    for (const Plan::Entrance& entrance : plan.shares[*plan.host_named("here")].entrances) {
      if (entrance.path != operation.path) continue;
      made.stage = entrance.stage;
      operation.slot = entrance.slot + (graph == "log" ? 1 : 0);
    }
    if (kind == OperationKind::move) operation.payload = base::Payload::of(1.0);
    if (kind == OperationKind::release) made.kind = FrameKind::one_way;
    operation.one_way = made.kind == FrameKind::one_way;
    return made;
  }
  Frame push(std::uint64_t sequence) const {
    Frame made = frame("log", OperationKind::move, sequence);
    made.kind = FrameKind::one_way;
    made.operation.one_way = true;
    return made;
  }
  Frame failed(std::uint64_t sequence) const {
    Frame made = frame("log", OperationKind::move, sequence);
    made.operation.failure = std::make_shared<TravelError>("far", "log", "", "failed");
    made.operation.payload = {};
    return made;
  }
  std::string validate(const Frame& made) {
    const auto verdict = validator.validate(made);
    if (verdict.kind == Kind::enters) return "enters";
    return verdict.kind == Kind::late ? "late" : verdict.reason;
  }
};

}  // namespace

TEST_CASE("validator: operations of paths enter above a join and below it") {
  Entry entry;
  for (const OperationKind kind :
       {OperationKind::enter, OperationKind::move, OperationKind::observe, OperationKind::newest,
        OperationKind::axe, OperationKind::traffic, OperationKind::release}) {
    INFO(operation_name(kind));
    CHECK(entry.validate(entry.frame("log", kind)) == "enters");
    CHECK(entry.validate(entry.frame("sum", kind)) == "enters");
  }
  Frame clock = entry.frame("log", OperationKind::clock);
  clock.operation = {};
  clock.operation.kind = OperationKind::clock;
  CHECK(entry.validate(clock) == "enters");
}

TEST_CASE("validator: each single field that does not match the plan is an error") {
  struct Case {
    std::function<void(Frame&)> change;
    std::string wrong;
  };
  constexpr auto top = std::numeric_limits<std::uint32_t>::max();
  const Entry plain;
  const std::uint32_t here = *plain.plan.host_named("here");
  const StageId other = plain.frame("sum", OperationKind::move).stage;
  const std::vector<Case> cases = {
      {[](Frame& f) { f.operation.path = top; }, "path 4294967295 of 5"},
      {[](Frame& f) { f.operation.path = 2; }, "where it does not enter"},
      {[](Frame& f) { f.operation.thread = 2; }, "thread 2 of path 0, which has 2"},
      {[](Frame& f) { f.operation.thread = top; }, "which has 2"},
      {[](Frame& f) { f.operation.slot = 0; }, "slot 0, expected 1"},
      {[](Frame& f) { f.operation.slot = top; }, "slot 4294967295, expected 1"},
      {[](Frame& f) { f.operation.segments = 0; }, "segment 0 of 0"},
      {[](Frame& f) { f.operation.segment = 1; }, "segment 1 of 1"},
      {[](Frame& f) { f.operation.segments = top; }, "segment 0 of 4294967295"},
      {[](Frame& f) { f.operation.contributions = 0; }, "0 contributions, expected 1 to 3"},
      {[](Frame& f) { f.operation.contributions = 4; }, "4 contributions, expected 1 to 3"},
      {[](Frame& f) { f.operation.sequence = ~std::uint64_t{0}; }, "the last move"},
      {[](Frame& f) { f.operation.kept = true; }, "move as a request"},
      {[](Frame& f) { f.operation.one_way = true; }, "move as a request"},
      {[](Frame& f) { f.operation.kind = OperationKind::release; }, "release as a request"},
      {[](Frame& f) { f.operation.kind = OperationKind::observe; }, "observe with 8 bytes"},
      {[](Frame& f) { f.stage = top; }, "where no path from there enters"},
      {[](Frame& f) { f.stage = 0; }, "where no path from there enters"},
      {[other](Frame& f) { f.stage = other; }, "where it does not enter"},
      {[here](Frame& f) { f.from_host = here; }, "where no path from there enters"},
      {[](Frame& f) { f.from_host = top; }, "where no path from there enters"},
  };
  for (const Case& one : cases) {
    Entry entry;
    Frame made = entry.frame("log", OperationKind::move);
    one.change(made);
    CHECK_THAT(entry.validate(made), Catch::Contains(one.wrong));
    // This move is accepted, because the rejected move has changed nothing.
    CHECK(entry.validate(entry.frame("log", OperationKind::move)) == "enters");
  }
  Entry entry;
  Frame traffic = entry.frame("log", OperationKind::traffic);
  traffic.operation.number = 3;
  CHECK(entry.validate(traffic) == "traffic of graph 3 of 3");
  Frame observe = entry.push(0);
  observe.operation.kind = OperationKind::observe;
  observe.operation.payload = {};
  CHECK(entry.validate(observe) == "observe as a push");
}

TEST_CASE("validator: short frames of a standing call must match its first request") {
  Entry entry;
  const auto judge = [&entry](const Validator::Standing& standing, std::uint32_t thread,
                              std::uint64_t sequence, std::uint64_t contributions) {
    const auto verdict = entry.validator.validate(standing, thread, sequence, contributions);
    if (verdict.kind == Kind::enters) return std::string("enters");
    return verdict.kind == Kind::late ? "late" : verdict.reason;
  };
  const Frame first = entry.frame("log", OperationKind::move, 0);
  REQUIRE(entry.validate(first) == "enters");
  const auto own = entry.validator.standing_of(first);  // calls of thread 1, at slot 1
  CHECK(judge(own, 1, 0, 1) == "move 0 arrives twice");
  CHECK(judge(own, 1, 1, 1) == "enters");
  CHECK(judge(own, 0, 2, 1) == "thread 0 at slot 1, which is not its own");
  CHECK(judge(own, 2, 2, 1) == "thread 2 at slot 1, which is not its own");
  CHECK(judge(own, 1, 2, 0) == "0 contributions, expected 1 to 3");
  CHECK(judge(own, 1, 2, 4) == "4 contributions, expected 1 to 3");
  CHECK(judge(own, 1, ~std::uint64_t{0}, 1) == "the last move there can be");
  CHECK(judge(own, 1, 2, 1) == "enters");
  CHECK(entry.validate(entry.frame("log", OperationKind::move, 2)) == "move 2 arrives twice");
  CHECK(entry.validate(entry.frame("log", OperationKind::move, 3)) == "enters");
  CHECK(entry.validate(entry.frame("log", OperationKind::release, 4)) == "enters");
  CHECK(judge(own, 1, 4, 1) == "late");

  const Frame joined = entry.frame("sum", OperationKind::move, 0);
  REQUIRE(entry.validate(joined) == "enters");
  // A standing call of both threads, whose operations come from their join.
  const auto shared = entry.validator.standing_of(joined);
  CHECK(judge(shared, 0, 1, 2) == "enters");
  CHECK(judge(shared, 1, 2, 2) == "enters");
  CHECK(judge(shared, 2, 3, 2) == "thread 2 at slot 1, which is not its own");
}

TEST_CASE("validator: standing calls consist of whole moves") {
  Entry entry;
  const auto judge = [&entry](OperationKind kind, std::uint32_t segments) {
    Frame first = entry.frame("log", kind);
    first.call = call_of_standing(0);
    first.operation.segments = segments;
    return entry.validate(first);
  };
  CHECK(judge(OperationKind::observe, 1) == "observe in a standing call");
  CHECK(judge(OperationKind::traffic, 1) == "traffic in a standing call");
  CHECK(judge(OperationKind::clock, 1) == "clock in a standing call");
  CHECK(judge(OperationKind::move, 2) == "segment 0 of 2 in a standing call");
  CHECK(judge(OperationKind::move, 1) == "enters");
}

TEST_CASE("validator: operations in short frames count until they have left") {
  Entry entry;
  const Frame first = entry.frame("log", OperationKind::move, 0);
  REQUIRE(entry.validate(first) == "enters");
  const auto standing = entry.validator.standing_of(first);
  CHECK_FALSE(entry.validator.validate(standing, 1, 1, 1).is_alone);
  entry.validator.complete(first);
  entry.validator.complete(standing);
  CHECK(entry.validator.validate(standing, 1, 2, 1).is_alone);
}

TEST_CASE("validator: moves of a slot arrive in order and once while pushes may leave gaps") {
  Entry entry;
  const auto move = [&](std::uint64_t sequence) {
    return entry.validate(entry.frame("log", OperationKind::move, sequence));
  };
  CHECK(move(0) == "enters");
  CHECK(move(0) == "move 0 arrives twice");
  CHECK(move(1) == "enters");
  CHECK(entry.validate(entry.push(5)) == "enters");
  CHECK(move(5) == "move 5 arrives twice");
  CHECK(move(6) == "enters");
  CHECK(move(3) == "move 3 arrives after move 6");
  CHECK(move(1) == "move 1 arrives twice");
  Frame of_other_segment = entry.frame("log", OperationKind::move, 0);
  of_other_segment.operation.segments = 2;
  of_other_segment.operation.segment = 1;
  CHECK(entry.validate(of_other_segment) == "enters");
  CHECK(entry.validate(of_other_segment) == "move 0 arrives twice");
  Frame of_other_slot = entry.frame("log", OperationKind::move, 0);
  of_other_slot.operation.thread = 0;
  of_other_slot.operation.slot = 0;
  CHECK(entry.validate(of_other_slot) == "enters");
}

TEST_CASE(
    "validator: below a join that gets its value from below moves arrive in any order and once") {
  Entry entry;
  const auto move = [&](std::uint64_t sequence) {
    return entry.validate(entry.frame("word", OperationKind::move, sequence));
  };
  REQUIRE(entry.validate(entry.frame("sum", OperationKind::move, 1)) == "enters");
  CHECK(entry.validate(entry.frame("sum", OperationKind::move, 0)) ==
        "move 0 arrives after move 1");
  // Sends as many operations as a path may have under way: first the operations with odd numbers,
  // then the operations with even numbers.
  for (std::uint64_t sequence = 1; sequence < 256; sequence += 2)
    REQUIRE(move(sequence) == "enters");
  for (std::uint64_t sequence = 0; sequence < 256; sequence += 2)
    REQUIRE(move(sequence) == "enters");
  for (std::uint64_t sequence = 0; sequence < 256; ++sequence)
    REQUIRE(move(sequence) == fmt::format("move {} arrives twice", sequence));
}

TEST_CASE("validator: failed moves may overtake and be overtaken but arrive once") {
  Entry entry;
  const auto move = [&](std::uint64_t sequence) {
    return entry.validate(entry.frame("log", OperationKind::move, sequence));
  };
  const auto fail = [&](std::uint64_t sequence) { return entry.validate(entry.failed(sequence)); };
  CHECK(fail(4) == "enters");
  CHECK(move(0) == "enters");
  CHECK(move(1) == "enters");
  CHECK(fail(4) == "move 4 arrives twice");
  CHECK(move(4) == "move 4 arrives twice");
  CHECK(fail(3) == "enters");
  CHECK(fail(3) == "move 3 arrives twice");
  CHECK(move(2) == "enters");
  CHECK(fail(2) == "move 2 arrives twice");
  CHECK(move(9) == "enters");
  CHECK(fail(7) == "enters");
  CHECK(fail(7) == "move 7 arrives twice");
  CHECK(fail(5) == "enters");
  CHECK(fail(8) == "enters");
  CHECK(fail(6) == "enters");
  CHECK(fail(6) == "move 6 arrives twice");
}

TEST_CASE("validator: a slot is released once and later operations are late") {
  Entry entry;
  CHECK(entry.validate(entry.frame("log", OperationKind::release, 2)) == "enters");
  // This move was sent before the release of its path, but arrives after the release.
  CHECK(entry.validate(entry.frame("log", OperationKind::move, 1)) == "enters");
  CHECK(entry.validate(entry.frame("log", OperationKind::move, 2)) == "late");
  CHECK(entry.validate(entry.frame("log", OperationKind::newest, 1)) == "late");
  CHECK(entry.validate(entry.frame("log", OperationKind::release)) == "slot 1 is released twice");
  const Frame sum = entry.frame("sum", OperationKind::release);
  // Releases the slot as a host does when it loses the peer.
  CHECK(entry.validator.release(sum.stage, sum.operation.slot));
  CHECK_FALSE(entry.validator.release(sum.stage, sum.operation.slot));
  CHECK(entry.validate(sum) == "late");
  CHECK(entry.validate(entry.frame("sum", OperationKind::move)) == "late");
}

TEST_CASE("validator: the number of operations inside a slot is limited") {
  Entry entry;
  const Frame asked = entry.frame("log", OperationKind::newest);
  for (std::uint64_t i = 0; i < Validator::inside_max; ++i)
    REQUIRE(entry.validate(asked) == "enters");
  CHECK(entry.validate(asked) == "more than 4096 operations at once at slot 1");
  entry.validator.complete(asked);
  CHECK(entry.validate(asked) == "enters");
}

TEST_CASE("validator: a reply has the size of its path's tuples") {
  Entry entry;
  const auto wrong = [&](OperationKind kind, std::size_t bytes) {
    const Frame asked = entry.frame("sum", kind);
    Result answer;
    answer.payload = base::Payload::copy_of(std::vector<std::byte>(bytes));
    return entry.validator.wrong_answer(asked.stage, asked.operation, answer);
  };
  CHECK(wrong(OperationKind::move, 8).empty());
  CHECK(wrong(OperationKind::move, 0).empty());
  CHECK_THAT(wrong(OperationKind::move, 3), Catch::Contains("bytes that are not a tuple"));
  CHECK(wrong(OperationKind::newest, 8).empty());
  CHECK_FALSE(wrong(OperationKind::newest, 0).empty());
  CHECK(wrong(OperationKind::last, 0).empty());
  CHECK_FALSE(wrong(OperationKind::last, 8).empty());
}
