// SPDX-License-Identifier: Apache-2.0
// tests/runtime/polling_test.cpp — when an OS thread looks for its wake-up, and when it sleeps.
#include "runtime/scheduler/polling.hpp"

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

TEST_CASE("polling: each further miss doubles how many waits skip it, up to 64") {
  SpinHistory site;
  site.note_miss(1);
  for (int expected : {4, 8, 16, 32, 64, 64}) {
    site.note_miss(1);
    CHECK(skipped(site) == expected);
  }
}

TEST_CASE("polling: what is skipped grows with the threads that wait there") {
  SpinHistory site;
  site.note_miss(8);
  site.note_miss(8);
  CHECK(skipped(site) == 4 * 8);
}

TEST_CASE("polling: a hit halves what the next misses will skip") {
  SpinHistory site;
  for (int i = 0; i < 4; ++i) site.note_miss(1);
  CHECK(skipped(site) == 16);
  site.note_hit();
  site.note_miss(1);
  CHECK_FALSE(site.skips());
  site.note_miss(1);
  CHECK(skipped(site) == 16);
}

TEST_CASE("polling: waits that say the same share what they learn") {
  const char name[] = "alpha";
  SpinHistory& site = SpinHistory::of({"a round of", name, 1});
  CHECK(&site == &SpinHistory::of({"a round of", name, 2}));
}

TEST_CASE("polling: a yield that takes more than 1 ms shows a stranger, and nobody yields") {
  CoreContention strangers;
  CHECK(strangers.may_yield(10s));
  strangers.note_yield(10s, 10s + 1ms);
  CHECK(strangers.may_yield(10s + 1ms));
  strangers.note_yield(10s, 10s + 2ms);
  CHECK_FALSE(strangers.may_yield(10s + 2ms));
  CHECK_FALSE(strangers.may_yield(10s + 6ms));
  CHECK(strangers.may_yield(10s + 7ms));
}

TEST_CASE("polling: a stranger who is still there is left alone for twice as long") {
  CoreContention strangers;
  Nanos now = 10s;
  for (const Nanos rest : {5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 160ms}) {
    strangers.note_yield(now, now + 3ms);
    now += 3ms + rest;
    CHECK_FALSE(strangers.may_yield(now - 1ns));
    CHECK(strangers.may_yield(now));
  }
  SECTION("until he has been away for as long") {
    now += 160ms;
    strangers.note_yield(now, now + 3ms);
    CHECK(strangers.may_yield(now + 3ms + 5ms));
  }
}

TEST_CASE("polling: a yield of more than 1 us shows that others share our cores") {
  CoreContention strangers;
  CHECK_FALSE(strangers.share_our_cores());
  strangers.note_yield(10s, 10s + 1us);
  CHECK_FALSE(strangers.share_our_cores());
  strangers.note_yield(10s, 10s + 4us);
  CHECK(strangers.share_our_cores());
  CHECK(strangers.may_yield(10s + 4us));
  strangers.note_yield(11s, 11s + 1us);
  CHECK_FALSE(strangers.share_our_cores());
}

TEST_CASE("polling: several threads that notice one stranger count him once") {
  CoreContention strangers;
  strangers.note_yield(10s, 10s + 3ms);
  strangers.note_yield(10s, 10s + 4ms);
  CHECK(strangers.may_yield(10s + 8ms));
}
