// SPDX-License-Identifier: Apache-2.0
// tests/runtime/polling_test.cpp — decisions of an OS thread to poll or to sleep.
#include "runtime/polling/polling.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace runtime;

namespace {

int skipped(SpinHistory& site) {
  int count = 0;
  while (site.skips()) ++count;
  return count;
}

}  // namespace

TEST_CASE("polling: two misses in a row make the waits of a site sleep at once") {
  SpinHistory site;
  site.note_miss(1);
  CHECK_FALSE(site.skips());
  site.note_hit();
  site.note_miss(1);
  CHECK_FALSE(site.skips());
  site.note_miss(1);
  CHECK(skipped(site) == 4);
}

TEST_CASE("polling: each further miss doubles the number of waits that skip polling up to 64") {
  SpinHistory site;
  site.note_miss(1);
  for (int expected : {4, 8, 16, 32, 64, 64}) {
    site.note_miss(1);
    CHECK(skipped(site) == expected);
  }
}

TEST_CASE("polling: the number of skipped waits grows with the number of waiting threads") {
  SpinHistory site;
  site.note_miss(8);
  site.note_miss(8);
  CHECK(skipped(site) == 4 * 8);
}

TEST_CASE("polling: a hit halves the number of waits that the next misses skip") {
  SpinHistory site;
  for (int i = 0; i < 4; ++i) site.note_miss(1);
  CHECK(skipped(site) == 16);
  site.note_hit();
  site.note_miss(1);
  CHECK_FALSE(site.skips());
  site.note_miss(1);
  CHECK(skipped(site) == 16);
}

TEST_CASE("polling: waits with the same description share a history") {
  const char name[] = "alpha";
  SpinHistory& site = SpinHistory::of({"a round of", name, 1});
  CHECK(&site == &SpinHistory::of({"a round of", name, 2}));
}

TEST_CASE("polling: a yield longer than 1 ms shows a foreign program and stops yielding") {
  CoreContention strangers(1us);
  CHECK(strangers.may_yield(10s));
  strangers.note_yield(10s, 10s + 1ms);
  CHECK(strangers.may_yield(10s + 1ms));
  strangers.note_yield(10s, 10s + 2ms);
  CHECK_FALSE(strangers.may_yield(10s + 2ms));
  CHECK_FALSE(strangers.may_yield(10s + 6ms));
  CHECK(strangers.may_yield(10s + 7ms));
}

TEST_CASE(
    "polling: yielding pauses twice as long each time if the foreign program is still there") {
  CoreContention strangers(1us);
  Nanos now = 10s;
  for (const Nanos rest : {5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 160ms}) {
    strangers.note_yield(now, now + 3ms);
    now += 3ms + rest;
    CHECK_FALSE(strangers.may_yield(now - 1ns));
    CHECK(strangers.may_yield(now));
  }
  SECTION("until it has been absent for as long") {
    now += 160ms;
    strangers.note_yield(now, now + 3ms);
    CHECK(strangers.may_yield(now + 3ms + 5ms));
  }
}

TEST_CASE("polling: a yield longer than an empty one shows that others share our cores") {
  CoreContention strangers(1us);
  CHECK_FALSE(strangers.share_our_cores());
  strangers.note_yield(10s, 10s + 1us);
  CHECK_FALSE(strangers.share_our_cores());
  strangers.note_yield(10s, 10s + 4us);
  CHECK(strangers.share_our_cores());
  CHECK(strangers.may_yield(10s + 4us));
  strangers.note_yield(11s, 11s + 1us);
  CHECK_FALSE(strangers.share_our_cores());
}

TEST_CASE("polling: an empty yield is measured as 1 us to 5 us") {
  const auto yield = CoreContention::measure_empty_yield();
  CHECK(yield >= 1us);
  CHECK(yield <= 5us);
}

TEST_CASE("polling: several threads that notice one foreign program count it once") {
  CoreContention strangers(1us);
  strangers.note_yield(10s, 10s + 3ms);
  strangers.note_yield(10s, 10s + 4ms);
  CHECK(strangers.may_yield(10s + 8ms));
}
