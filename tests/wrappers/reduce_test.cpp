// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/reduce_test.cpp — a result that only the root's side gets and waits for.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/joined.hpp"
#include "wrappers/joins.hpp"

namespace {

using base::Nanos;
using paths::TravelError;
using namespace std::chrono_literals;
using test_support::join_all;
using test_support::OneHost;
using test_support::PlanBuilder;
using test_support::thrown;

struct Joined : test_support::Joined {
  explicit Joined(std::uint32_t threads)
      : test_support::Joined("reduce", threads, {{"template", "f64"}}) {}
};

}  // namespace

TEST_CASE("reduce: slot 0 waits for all and gets the result while the others return at once") {
  Joined t(3);
  t.here->run([&] {
    runtime::Task threads[] = {t.later(1ms, 0, 0, 1.0), t.later(0ns, 1, 0, 2.0),
                               t.later(5ms, 2, 0, 4.0)};
    join_all(threads);
  });
  CHECK(t.values == std::vector<double>{Joined::nothing, Joined::nothing, 7.0});
  CHECK(t.answered_at == std::vector<Nanos>{0ms, 5ms, 5ms});
  REQUIRE(t.arrived.size() == 1);
  CHECK(t.arrived[0].thread == 0);
  CHECK(t.arrived[0].contributions == 3);
}

TEST_CASE("reduce: other threads may be rounds ahead of slot 0") {
  Joined t(2);
  t.here->run([&] {
    for (std::uint64_t round = 0; round < 100; ++round)
      t.here->move(0, 1, round, base::Payload::of(static_cast<double>(round)));
    for (std::uint64_t round = 0; round < 100; ++round)
      CHECK(t.move(0, round, 0.5) == 0.5 + static_cast<double>(round));
  });
}

TEST_CASE("reduce: a tree of reduces gives the result to the first thread") {
  PlanBuilder builder;
  const auto left = builder.wrapper("reduce", "left", {{"template", "i64"}});
  const auto right = builder.wrapper("reduce", "right", {{"template", "i64"}});
  const auto both = builder.wrapper("reduce", "both", {{"template", "i64"}});
  const auto end = builder.does("end", [](paths::Operation operation, paths::Next) {
    paths::Result result;
    result.payload = operation.payload;
    return result;
  });
  builder.path("graph", 2, {left, both, end});
  builder.path("graph", 2, {right, both, end});
  OneHost here(builder);
  here.run([&] {
    std::vector<runtime::Task> threads;
    for (std::uint32_t path = 0; path < 2; ++path) {
      for (std::uint32_t thread = 0; thread < 2; ++thread) {
        threads.push_back(here.spawn([&here, path, thread] {
          const std::int64_t value = 1 + 10 * path + thread;
          const paths::Result result = here.move(path, thread, 0, base::Payload::of(value));
          const bool is_root = path == 0 && thread == 0;
          CHECK(result.payload.empty() != is_root);
          if (is_root) CHECK(result.payload.read<std::int64_t>() == 1 + 2 + 11 + 12);
        }));
      }
    }
    join_all(threads);
  });
}

TEST_CASE("reduce: an invalid contribution fails its thread and slot 0") {
  Joined t(3);
  t.here->run([&] {
    runtime::Task threads[] = {t.later(0ns, 0, 0, 1.0), t.later(1ms, 1, 0, std::nan("")),
                               t.later(2ms, 2, 0, 1.0)};
    join_all(threads);
  });
  REQUIRE(t.answers.size() == 3);
  CHECK_THAT(t.answers[0], Catch::Contains("thread here/1") && Catch::Contains("NaN"));
  CHECK_THAT(t.answers[1] + t.answers[2], Catch::Contains("nothing") && Catch::Contains("NaN"));
}

TEST_CASE(
    "reduce: at the deadline slot 0 and the late thread get an error that names the late thread") {
  Joined t(3);
  t.builder.plan().deadline = 50ms;
  t.builder.plan().deadline_written = true;
  t.here->run([&] {
    runtime::Task threads[] = {t.later(0ns, 0, 0, 1.0), t.later(0ns, 1, 0, 1.0),
                               t.later(80ms, 2, 0, 1.0)};
    join_all(threads);
  });
  REQUIRE(t.answers.size() == 3);
  CHECK(t.answers[0] == "nothing");
  CHECK_THAT(t.answers[1], Catch::Contains("missing") && Catch::Contains("thread here/2"));
  CHECK(t.answers[2] == t.answers[1]);
  CHECK(t.answered_at == std::vector<Nanos>{0ms, 50ms, 80ms});
}

TEST_CASE("reduce: a contributor that released its path is not awaited") {
  Joined t(2);
  t.here->run([&] {
    runtime::Task waits = t.later(0ns, 0, 3, 1.0);
    t.here->sleep(1ms);
    t.release(1, 3);
    waits.join();
  });
  CHECK_THAT(t.answers.at(0), Catch::Contains("thread here/1 released"));
}
