// SPDX-License-Identifier: Apache-2.0
// tests/paths/round_test.cpp — closing and reuse of the rounds of a join.
#include "paths/joins/round.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using paths::OpenRounds;
using paths::Round;

TEST_CASE("rounds: a round that is used again keeps nothing of the round before") {
  OpenRounds rounds(2, true);
  runtime::Mutex mutex;
  Round& first = rounds.open({7, 0});
  for (paths::Contribution& one : first.by_slot) {
    one.is_here = true;
    one.payload = base::Payload::of(1.0);
    one.failure = std::make_shared<const paths::TravelError>("h", "w", "p", "broken");
  }
  first.here = 2;
  first.has_leader = true;
  first.failure = first.by_slot[0].failure;
  first.result.emplace();
  first.fold = std::make_unique<paths::SharedFold>(100, 10);
  first.until = 5ns;
  rounds.leave(first, mutex);
  CHECK(rounds.find({7, 0}) == &first);
  rounds.leave(first, mutex);
  CHECK(rounds.find({7, 0}) == nullptr);

  const Round& again = rounds.open({8, 1});
  REQUIRE(&again == &first);
  CHECK(again.key == Round::Key(8, 1));
  CHECK(again.here == 0);
  CHECK(again.gone == 0);
  CHECK_FALSE(again.has_leader);
  CHECK(again.failure == nullptr);
  CHECK_FALSE(again.result);
  CHECK_FALSE(again.is_decided());
  CHECK(again.fold == nullptr);
  CHECK(again.until == base::Nanos::max());
  for (const paths::Contribution& one : again.by_slot) {
    CHECK_FALSE(one.is_here);
    CHECK(one.payload.size() == 0);
    CHECK(one.failure == nullptr);
  }
}
