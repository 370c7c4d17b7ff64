// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/barrier_test.cpp — the wait of all threads for the last arriver.
#include <catch2/catch.hpp>

#include "tests/support/joined.hpp"
#include "wrappers/joins.hpp"

namespace {

using base::Nanos;
using namespace std::chrono_literals;
using test_support::join_all;

struct Joined : test_support::Joined {
  explicit Joined(std::uint32_t threads) : test_support::Joined("barrier", threads, {}) {}
};

}  // namespace

TEST_CASE("barrier: all threads return without a value when the last one arrives") {
  Joined t(3);
  t.here->run([&] {
    runtime::Task threads[] = {t.later(4ms, 0, 0, 1.0), t.later(0ns, 1, 0, 1.0),
                               t.later(2ms, 2, 0, 1.0)};
    join_all(threads);
  });
  CHECK(t.answered_at == std::vector<Nanos>{4ms, 4ms, 4ms});
  CHECK(t.values == std::vector<double>(3, Joined::nothing));
  REQUIRE(t.arrived.size() == 1);
  CHECK(t.arrived[0].payload.empty());
}

TEST_CASE("barrier: at the deadline all waiters get an error that names the missing thread") {
  Joined t(2);
  t.builder.plan().deadline = 50ms;
  t.builder.plan().deadline_written = true;
  t.here->run([&] { t.later(0ns, 1, 0, 1.0).join(); });
  CHECK_THAT(t.answers.at(0), Catch::Contains("missing") && Catch::Contains("thread here/0"));
}

TEST_CASE("barrier: a wait for a thread that never arrives is named in the deadlock report") {
  Joined t(2);
  const std::string report = test_support::thrown<runtime::Deadlock>(
      [&] { t.here->run([&] { t.later(0ns, 1, 7, 1.0).join(); }); });
  CHECK_THAT(report, Catch::Contains("contributions of round") && Catch::Contains("sum"));
}
