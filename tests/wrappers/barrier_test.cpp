// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/barrier_test.cpp — threads that all wait for the last thread to arrive.
#include <catch2/catch.hpp>

#include "tests/support/joined.hpp"
#include "wrappers/joins.hpp"

namespace {

using base::Nanos;
using namespace std::chrono_literals;
using namespace test_support;

}  // namespace

TEST_CASE("barrier: all threads return without a value when the last one arrives") {
  Joined t("barrier", 3, {});
  t.meet({{4ms, 0, 0, 1.0}, {0ns, 1, 0, 1.0}, {2ms, 2, 0, 1.0}});
  CHECK(t.answered_at == std::vector<Nanos>{4ms, 4ms, 4ms});
  CHECK(t.values == std::vector<double>(3, Joined::nothing));
  REQUIRE(t.arrived.size() == 1);
  CHECK(t.arrived[0].payload.empty());
}

TEST_CASE("barrier: at the deadline all waiters get an error that names the missing thread") {
  Joined t("barrier", 2, {});
  t.builder.set_deadline(50ms);
  t.here->run([&] { t.later(0ns, 1, 0, 1.0).join(); });
  CHECK_THAT(t.answers.at(0), Catch::Contains("missing") && Catch::Contains("thread here/0"));
}

TEST_CASE("barrier: a wait for a thread that never arrives is named in the deadlock report") {
  Joined t("barrier", 2, {});
  const std::string report =
      thrown<runtime::Deadlock>([&] { t.here->run([&] { t.later(0ns, 1, 7, 1.0).join(); }); });
  CHECK_THAT(report, Catch::Contains("contributions of round") && Catch::Contains("sum"));
}
