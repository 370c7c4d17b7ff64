// SPDX-License-Identifier: Apache-2.0
// tests/messages/accounts_test.cpp — credit that is issued, used and returned.
#include "paths/messages/channels/accounts.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

using paths::Account;
using paths::charge_of;
using paths::Inbox;
using paths::Window;

TEST_CASE("accounts: an account issues its target and then returned credit") {
  Inbox inbox(10'000);
  Account account(inbox, 1000, 1);
  CHECK(account.issue() == 1000);
  CHECK(account.issue() == 0);
  CHECK(account.take(300));
  CHECK(account.issue() == 0);  // the 300 bytes in use were not returned yet
  account.give_back(300);
  CHECK(account.issue() == 300);
  CHECK(inbox.issued() == 1000);
  CHECK(inbox.held_most() == 300);
}

TEST_CASE("accounts: credit below the minimum is withheld until the source runs short") {
  Inbox inbox(10'000);
  Account account(inbox, 1000, 250);
  account.issue();
  REQUIRE(account.take(100));
  account.give_back(100);
  CHECK(account.issue() == 0);
  REQUIRE(account.take(700));
  CHECK(account.unused() == 200);
  CHECK(account.issue() == 100);
}

TEST_CASE("accounts: credit that was not issued cannot be used") {
  Inbox inbox(10'000);
  Account account(inbox, 1000, 1);
  CHECK_FALSE(account.take(1));
  account.issue();
  CHECK_FALSE(account.take(1001));
  CHECK(account.unused() == 1000);
}

TEST_CASE(
    "accounts: accounts of a host share its inbox and closing an account returns all its credit") {
  Inbox inbox(1500);
  Account first(inbox, 1000, 1), second(inbox, 1000, 1);
  CHECK(first.issue() == 1000);
  CHECK(second.issue() == 500);
  CHECK(second.is_short());
  first.take(10);
  first.close();
  CHECK(second.issue() == 500);
  CHECK_FALSE(second.is_short());
  CHECK(inbox.held() == 0);
  // Gives back the bytes of a message that was dropped after the account was closed.
  first.give_back(10);
  CHECK(inbox.issued() == 1000);
}

TEST_CASE("accounts: a window pays by credit or by grant") {
  Window window;
  CHECK_FALSE(window.can_pay(charge_of(0)));
  window.add(200);
  CHECK(window.can_pay(charge_of(72)));
  window.pay(charge_of(72));
  CHECK(window.credit() == 0);
  window.grant({3, 1});
  CHECK_FALSE(window.forget({3, 0}));
  CHECK(window.forget({3, 1}));
  CHECK_FALSE(window.forget({3, 1}));
}

TEST_CASE("accounts: issued and held bytes stay within the inbox and match the windows") {
  const std::uint64_t seed = 2026;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto draw = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int run = 0; run < 1000; ++run) {
    Inbox inbox(draw(5000));
    struct Lane {
      std::unique_ptr<Account> account;
      Window window;
      std::vector<std::uint64_t> on_the_way, held;
    };
    std::vector<Lane> lanes(1 + draw(4));
    for (Lane& lane : lanes)
      lane.account = std::make_unique<Account>(inbox, draw(3000), 1 + draw(500));
    for (int step = 0; step < 200; ++step) {
      Lane& lane = lanes[draw(lanes.size() - 1)];
      const std::uint64_t charge = charge_of(draw(400));
      if (draw(2) == 0) lane.window.add(lane.account->issue());
      if (lane.window.can_pay(charge)) {
        lane.window.pay(charge);
        lane.on_the_way.push_back(charge);
      }
      if (!lane.on_the_way.empty() && draw(1) == 0) {
        REQUIRE(lane.account->take(lane.on_the_way.back()));
        lane.held.push_back(lane.on_the_way.back());
        lane.on_the_way.pop_back();
      }
      if (!lane.held.empty() && draw(1) == 0) {
        lane.account->give_back(lane.held.back());
        lane.held.pop_back();
      }
      REQUIRE(inbox.issued() <= inbox.bytes());
      REQUIRE(inbox.held() <= inbox.issued());
      std::uint64_t on_the_way = 0;
      for (const std::uint64_t one : lane.on_the_way) on_the_way += one;
      REQUIRE(lane.account->unused() == lane.window.credit() + on_the_way);
    }
    lanes.clear();
    REQUIRE(inbox.issued() == 0);
    REQUIRE(inbox.held() == 0);
  }
}
