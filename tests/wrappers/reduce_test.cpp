// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/reduce_test.cpp — reductions whose result only slot 0 gets; other slots do not
// wait.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/joined.hpp"
#include "wrappers/joins.hpp"

namespace {

using base::Nanos;
using namespace std::chrono_literals;
using namespace test_support;

const Words doubles = {{"template", "f64"}};

}  // namespace

TEST_CASE("reduce: slot 0 waits for all and gets the result while the others return at once") {
  Joined t("reduce", 3, doubles);
  t.meet({{1ms, 0, 0, 1.0}, {0ns, 1, 0, 2.0}, {5ms, 2, 0, 4.0}});
  CHECK(t.values == std::vector<double>{Joined::nothing, Joined::nothing, 7.0});
  CHECK(t.answered_at == std::vector<Nanos>{0ms, 5ms, 5ms});
  REQUIRE(t.arrived.size() == 1);
  CHECK(t.arrived[0].thread == 0);
  CHECK(t.arrived[0].contributions == 3);
}

TEST_CASE("reduce: other threads may be rounds ahead of slot 0") {
  Joined t("reduce", 2, doubles);
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
  const auto end = builder.returns();
  builder.path("graph", 2, {left, both, end});
  builder.path("graph", 2, {right, both, end});
  OneHost here(builder);
  here.run([&] {
    here.together(4, [&](std::uint32_t thread) {
      const std::int64_t value = 1 + 10 * (thread / 2) + thread % 2;
      const paths::Result result = here.move(thread / 2, thread % 2, 0, base::Payload::of(value));
      CHECK(result.payload.empty() != (thread == 0));  // thread 0 is the root
      if (thread == 0) CHECK(result.payload.read<std::int64_t>() == 1 + 2 + 11 + 12);
    });
  });
}

TEST_CASE("reduce: an invalid contribution fails its thread and slot 0") {
  Joined t("reduce", 3, doubles);
  t.meet({{0ns, 0, 0, 1.0}, {1ms, 1, 0, std::nan("")}, {2ms, 2, 0, 1.0}});
  REQUIRE(t.answers.size() == 3);
  CHECK_THAT(t.answers[0], Catch::Contains("thread here/1") && Catch::Contains("NaN"));
  CHECK_THAT(t.answers[1] + t.answers[2], Catch::Contains("nothing") && Catch::Contains("NaN"));
}

TEST_CASE(
    "reduce: at the deadline slot 0 and the late thread get an error that names the late thread") {
  Joined t("reduce", 3, doubles);
  t.builder.set_deadline(50ms);
  t.meet({{0ns, 0, 0, 1.0}, {0ns, 1, 0, 1.0}, {80ms, 2, 0, 1.0}});
  REQUIRE(t.answers.size() == 3);
  CHECK(t.answers[0] == "nothing");
  CHECK_THAT(t.answers[1], Catch::Contains("missing") && Catch::Contains("thread here/2"));
  CHECK(t.answers[2] == t.answers[1]);
  CHECK(t.answered_at == std::vector<Nanos>{0ms, 50ms, 80ms});
}

TEST_CASE("reduce: a contributor that released its path is not awaited") {
  Joined t("reduce", 2, doubles);
  t.here->run([&] {
    runtime::Task waits = t.later(0ns, 0, 3, 1.0);
    t.here->sleep(1ms);
    t.release(1, 3);
    waits.join();
  });
  CHECK_THAT(t.answers.at(0), Catch::Contains("thread here/1 released"));
}
