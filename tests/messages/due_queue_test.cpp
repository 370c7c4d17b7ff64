// SPDX-License-Identifier: Apache-2.0
// tests/messages/due_queue_test.cpp — order of due work, and checks that do not delay the end of a
// host.
#include "paths/links/due_queue.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using paths::DueQueue;
using paths::Turn;

TEST_CASE("due queue: work is taken by time and then by kind, rank and insertion") {
  DueQueue queue(true);
  std::string taken;
  const auto note = [&taken](char name) { return [&taken, name] { taken += name; }; };
  queue.put(2ns, note('h'));
  queue.put(1ns, note('f'), Turn::choices, 7);
  queue.put(1ns, note('e'), Turn::choices, 3);
  queue.put(1ns, note('g'), Turn::choices, 7);
  queue.put(1ns, note('d'), Turn::heads);
  queue.put(1ns, note('a'));
  queue.put_check(1ns, note('b'));
  queue.put(1ns, note('c'));
  while (!queue.empty()) queue.take()();
  CHECK(taken == "abcdefgh");
}

TEST_CASE("due queue: the end of a host waits for work but not for checks of other hosts") {
  DueQueue queue(true);
  CHECK(queue.has_only_checks());
  queue.put_check(2ns, [] {});
  CHECK(queue.has_only_checks());
  CHECK_FALSE(queue.empty());
  queue.put(1ns, [] {});
  CHECK_FALSE(queue.has_only_checks());
  queue.take();
  CHECK(queue.has_only_checks());
  queue.take();
  CHECK(queue.empty());
  queue.put(1ns, [] {});
  CHECK_FALSE(queue.has_only_checks());
}

TEST_CASE("due queue: a cleared queue has no work and no checks") {
  DueQueue queue(true);
  queue.put_check(1ns, [] {});
  queue.put(2ns, [] {});
  queue.clear();
  CHECK(queue.empty());
  queue.put(3ns, [] {});
  CHECK_FALSE(queue.has_only_checks());
}

TEST_CASE("due queue: only a queue without turns has work that may be done at once") {
  for (const bool has_turns : {false, true}) {
    DueQueue queue(has_turns);
    CHECK_FALSE(queue.is_behind(2ns));
    queue.put(
        2ns, [] {}, Turn::heads);
    CHECK_FALSE(queue.is_behind(1ns));
    CHECK(queue.is_behind(2ns) == !has_turns);
    CHECK(queue.is_later_than(queue.first_turn()) == has_turns);
    CHECK_FALSE(queue.is_later_than(Turn::heads));
  }
}
