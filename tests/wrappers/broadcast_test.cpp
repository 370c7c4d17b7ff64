// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/broadcast_test.cpp — delivery of the root's value to all threads. The root never
// waits.
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/joined.hpp"
#include "wrappers/joins.hpp"

namespace {

using base::Nanos;
using paths::TravelError;
using namespace std::chrono_literals;
using namespace test_support;

const Words from_thread_1 = {{"from", "1"}, {"template", "f64"}};

/// Two groups of two threads. The root is the second thread of the second group.
struct Tree {
  Tree() {
    const auto left = builder.wrapper("broadcast", "left", Words{});
    const auto right = builder.wrapper("broadcast", "right", {{"from", "1"}});
    const auto both = builder.wrapper("broadcast", "both", {{"from", "1"}});
    const auto end = builder.does("end", [this](paths::Operation operation, paths::Next) {
      arrived.push_back(operation);
      return paths::Result();
    });
    builder.path("graph", 2, {left, both, end});
    builder.path("graph", 2, {right, both, end});
    here.emplace(builder);
  }
  runtime::Task later(Nanos delay, std::uint32_t path, std::uint32_t thread) {
    return here->spawn([=, this] {
      here->sleep(delay);
      values.push_back(here->move_value(path, thread, 0, 10.0 * path + thread));
      answered_at.push_back(here->now());
    });
  }
  PlanBuilder builder;
  std::optional<OneHost> here;
  std::vector<paths::Operation> arrived;
  std::vector<double> values;
  std::vector<Nanos> answered_at;
};

/// Path 0 has four threads, and the root of its broadcast never arrives. The stage below the
/// broadcast takes 3 ms to fetch the value 42. Only failures continue down from this stage. They
/// reach a barrier, which the thread of path 1 also enters.
struct Fetched {
  Fetched() {
    const auto upper = builder.wrapper("broadcast", "upper", Words{});
    const auto fetch = builder.does("fetch", [this](paths::Operation, paths::Next) {
      fetched_at.push_back(here->now());
      here->sleep(3ms);
      paths::Result result;
      result.payload = base::Payload::of(42.0);
      return result;
    });
    const auto lower = builder.wrapper("barrier", "lower", Words{});
    const auto end =
        builder.does("end", [](paths::Operation, paths::Next) { return paths::Result(); });
    builder.path("graph", threads, {upper, fetch, lower, end});
    builder.path("graph", 1, {lower, end});
    here.emplace(builder);
  }
  /// fetches() spawns a thread that contributes a value after `delay`. fails() spawns a thread that
  /// contributes a failure after `delay`.
  runtime::Task fetches(Nanos delay, std::uint32_t thread) { return later(delay, thread, nullptr); }
  runtime::Task fails(Nanos delay, std::uint32_t thread) {
    return later(delay, thread,
                 std::make_shared<const TravelError>("here", "graph", "above", broken(thread)));
  }
  static std::string broken(std::uint32_t thread) {
    return "broken above thread " + std::to_string(thread);
  }

  static constexpr std::uint32_t threads = 4;
  PlanBuilder builder;
  std::optional<OneHost> here;
  std::vector<Nanos> fetched_at;
  // Results of the threads of path 0, indexed by thread.
  std::vector<double> values = std::vector<double>(threads);
  std::vector<std::string> errors = std::vector<std::string>(threads);
  std::vector<Nanos> answered_at = std::vector<Nanos>(threads);

 private:
  runtime::Task later(Nanos delay, std::uint32_t thread, paths::Failure failure) {
    return here->spawn([this, delay, thread, failure = std::move(failure)] {
      here->sleep(delay);
      paths::Operation operation = here->operation(0, thread, 0);
      operation.failure = failure;
      errors[thread] = thrown<TravelError>(
          [&] { values[thread] = here->operate(std::move(operation)).payload.read<double>(); });
      answered_at[thread] = here->now();
    });
  }
};

}  // namespace

TEST_CASE("broadcast: the others wait for the root while it continues alone") {
  Joined t("broadcast", 3, from_thread_1);
  t.meet({{0ns, 0, 0, 10.0}, {2ms, 1, 0, 11.0}, {9ms, 2, 0, 12.0}});
  CHECK(t.values == std::vector<double>{11, 11, 11});
  CHECK(t.answered_at == std::vector<Nanos>{2ms, 2ms, 9ms});
  REQUIRE(t.arrived.size() == 1);
  CHECK(t.arrived[0].payload.read<double>() == 11.0);
}

TEST_CASE("broadcast: a root that is rounds ahead still gives each late thread the right value") {
  Joined t("broadcast", 2, from_thread_1);
  t.here->run([&] {
    for (std::uint64_t round = 0; round < 50; ++round) t.move(1, round, static_cast<double>(round));
    for (std::uint64_t round = 0; round < 50; ++round)
      CHECK(t.move(0, round, -1.0) == static_cast<double>(round));
  });
}

TEST_CASE("broadcast: without the root the first arriver fetches for all") {
  Tree t;
  t.here->run([&] {
    runtime::Task threads[] = {t.later(1ms, 0, 1), t.later(2ms, 0, 0), t.later(5ms, 1, 1),
                               t.later(7ms, 1, 0)};
    join_all(threads);
  });
  CHECK(t.values == std::vector<double>(4, 11.0));
  CHECK(t.answered_at == std::vector<Nanos>{5ms, 5ms, 5ms, 7ms});
  CHECK(t.arrived.size() == 1);
}

TEST_CASE("broadcast: without the root the first arriver that did not fail fetches") {
  Fetched t;
  t.here->run([&] {
    runtime::Task threads[] = {t.fails(0ms, 0), t.fetches(1ms, 1), t.fetches(2ms, 2),
                               t.fetches(9ms, 3)};
    join_all(threads);
  });
  CHECK_THAT(t.errors[0], Catch::Contains(Fetched::broken(0)));
  CHECK(t.values == std::vector<double>{0, 42, 42, 42});
  CHECK(t.fetched_at == std::vector<Nanos>{1ms});
  CHECK(t.answered_at == std::vector<Nanos>{0ms, 4ms, 4ms, 9ms});
}

TEST_CASE(
    "broadcast: if the root is missing and all others failed the last failure continues down") {
  Fetched t;
  std::string below;
  t.here->run([&] {
    runtime::Task other = t.here->spawn(
        [&] { below = thrown<TravelError>([&] { t.here->move_value(1, 0, 0, 1.0); }); });
    runtime::Task threads[] = {t.fails(0ms, 0), t.fails(1ms, 1), t.fails(2ms, 2), t.fails(3ms, 3)};
    join_all(threads);
    other.join();
  });
  for (std::uint32_t thread = 0; thread < Fetched::threads; ++thread)
    CHECK_THAT(t.errors[thread], Catch::Contains(Fetched::broken(thread)));
  CHECK_THAT(below, Catch::Contains(Fetched::broken(3)));
  CHECK(t.fetched_at.empty());
  CHECK(t.answered_at == std::vector<Nanos>{0ms, 1ms, 2ms, 3ms});
}

TEST_CASE(
    "broadcast: a failure of the root reaches all threads and a failure of its store only the "
    "root") {
  Joined t("broadcast", 2, from_thread_1);
  t.before_answer = [](const paths::Operation& operation) {
    if (!operation.failure) throw std::runtime_error("full");
  };
  t.here->run([&] {
    runtime::Task threads[] = {t.later(0ns, 0, 0, 0.0), t.later(1ms, 1, 0, 1.0)};
    join_all(threads);
    CHECK(t.values == std::vector<double>{1.0});
    CHECK_THAT(t.answers[0] + t.answers[1], Catch::Contains("full"));
    t.answers.clear();
    runtime::Task waits = t.later(0ns, 0, 1, 0.0);
    const std::string root =
        thrown<TravelError>([&] { t.here->move(0, 1, 1, base::Payload::of(std::int32_t{1})); });
    waits.join();
    CHECK(t.answers.at(0) == root);
    CHECK_THAT(root, Catch::Contains("round 1"));
  });
}

TEST_CASE(
    "broadcast: at the deadline the error names the root and also reaches joins below and the "
    "root") {
  Tree t;
  t.builder.set_deadline(50ms);
  t.here->run([&] {
    std::vector<std::string> errors;
    std::vector<runtime::Task> threads;
    const auto fails = [&](Nanos delay, std::uint32_t path, std::uint32_t thread) {
      threads.push_back(t.here->spawn([&, delay, path, thread] {
        t.here->sleep(delay);
        errors.push_back(thrown<TravelError>([&] { t.here->move_value(path, thread, 0, 1.0); }));
      }));
    };
    fails(0ms, 1, 0);
    fails(1ms, 0, 0);
    fails(1ms, 0, 1);
    fails(60ms, 1, 1);
    join_all(threads);
    REQUIRE(errors.size() == 4);
    for (const std::string& error : errors) CHECK_THAT(error, Catch::Contains("thread here/3"));
  });
}

TEST_CASE("broadcast: a thread that failed gets its own failure even if the value is there") {
  Fetched t;
  t.here->run([&] {
    runtime::Task threads[] = {t.fetches(0ms, 0), t.fetches(1ms, 1), t.fails(5ms, 2),
                               t.fetches(6ms, 3)};
    join_all(threads);
  });
  CHECK(t.values == std::vector<double>{42, 42, 0, 42});
  CHECK_THAT(t.errors[2], Catch::Contains(Fetched::broken(2)));
}

TEST_CASE("broadcast: at the deadline the error names only the root of all missing threads") {
  Joined t("broadcast", 3, from_thread_1);
  t.builder.set_deadline(50ms);
  t.meet({{0ns, 0, 0, 0.0}});
  CHECK_THAT(t.answers.at(0), Catch::EndsWith("missing at the deadline: thread here/1"));
}

TEST_CASE("broadcast: a wait for a root that released its path ends at once") {
  Joined t("broadcast", 2, from_thread_1);
  t.here->run([&] {
    runtime::Task waits = t.later(0ns, 0, 4, 0.0);
    t.here->sleep(1ms);
    t.release(1, 4);
    waits.join();
  });
  CHECK_THAT(t.answers.at(0), Catch::Contains("thread here/1 released"));
}

TEST_CASE("broadcast: a slot that withdrew gets the round before and is refused in that round") {
  // If a host dies, its withdrawal can arrive before contributions that it has sent earlier.
  Joined t("broadcast", 3, from_thread_1);
  t.here->run([&] {
    t.here->operate(t.here->operation(0, 0, 5, paths::OperationKind::withdraw));
    for (const std::uint64_t round : {4u, 5u}) t.move(1, round, 10.0 * static_cast<double>(round));
    CHECK(t.move(0, 4, 0.0) == 40.0);
    CHECK_THAT(thrown<TravelError>([&] { t.move(0, 5, 0.0); }),
               Catch::Contains("round 5: thread here/0 released its path before"));
    for (const std::uint64_t round : {4u, 5u})
      CHECK(t.move(2, round, 0.0) == 10.0 * static_cast<double>(round));
  });
}
