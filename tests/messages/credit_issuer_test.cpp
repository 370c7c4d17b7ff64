// SPDX-License-Identifier: Apache-2.0
// tests/messages/credit_issuer_test.cpp — order in which lanes get credit when the inbox has little
// room, and the time of delayed grants.
#include "paths/messages/credit_issuer.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/lane_hosts.hpp"

namespace {

struct NoCarrier final : paths::LaneCarrier {
  void send(std::uint32_t, paths::LaneFrame) override {}
};

}  // namespace

TEST_CASE(
    "credit issuer: a lane that found no room gets credit before a lane whose credit returns") {
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time});
  NoCarrier carrier;
  paths::EmulatedLinks links;
  paths::EndpointState state(runtime, test_support::lane_plan({3}, "", ""), 0, links, carrier);
  paths::Inbox inbox(1000);
  paths::GroupTable groups(state);
  paths::CreditIssuer issuer(state, groups, inbox);
  const std::vector<std::uint32_t> hosts = {0, 1, 2};
  paths::GroupState& group =
      groups.add("group", std::make_shared<const std::vector<std::uint32_t>>(hosts),
                 {.channels = 1, .window_bytes = 1000});
  paths::Account& first = issuer.lane_from(group, 1).account();
  paths::Account& second = issuer.lane_from(group, 2).account();
  issuer.issue(group, 1);
  issuer.issue(group, 2);
  REQUIRE(first.unused() == 1000);
  REQUIRE(second.unused() == 0);

  REQUIRE(first.take(600));
  first.give_back(600);
  issuer.issue_returned(group, 1);
  CHECK(first.unused() == 400);
  CHECK(second.unused() == 600);
}

TEST_CASE("credit issuer: sources of fast links with a high latency leave credit for the others") {
  runtime::Runtime runtime({.clock = runtime::ClockKind::virtual_time});
  NoCarrier carrier;
  paths::EmulatedLinks links;
  // Each source could have 110 MB under way: 10 Gbit/s for 88 ms.
  const auto plan = test_support::lane_plan({1, 1, 1, 1, 1, 1}, "", "{latency: 44ms}");
  paths::EndpointState state(runtime, plan, 0, links, carrier);
  paths::Inbox inbox(plan->lanes.inbox_bytes);
  paths::GroupTable groups(state);
  paths::CreditIssuer issuer(state, groups, inbox);
  const std::vector<std::uint32_t> hosts = {0, 1, 2, 3, 4, 5};
  const auto members = std::make_shared<const std::vector<std::uint32_t>>(hosts);
  for (const char* const name : {"first group", "second group"}) {
    paths::GroupState& group = groups.add(name, members, {.channels = 1});
    for (const std::uint32_t source : {1, 2, 3, 4, 5}) {
      INFO(name << ", source " << source);
      issuer.issue(group, source);
      const paths::Account& account = issuer.lane_from(group, source).account();
      CHECK(account.unused() == inbox.bytes() / 2 / 6);
      CHECK(account.is_ample());
    }
  }
}

TEST_CASE("credit issuer: a delayed grant leaves after 250 ms") {
  runtime::Runtime runtime({.clock = runtime::ClockKind::steady});
  NoCarrier carrier;
  paths::EmulatedLinks links;
  const auto plan = test_support::lane_plan({2}, "", "");
  paths::EndpointState state(runtime, plan, 0, links, carrier);
  paths::Inbox inbox(1 << 20);
  paths::GroupTable groups(state);
  paths::CreditIssuer issuer(state, groups, inbox);
  const std::vector<std::uint32_t> hosts = {0, 1};
  paths::GroupState& group =
      groups.add("group", std::make_shared<const std::vector<std::uint32_t>>(hosts),
                 {.channels = 1, .window_bytes = 1 << 20});
  issuer.issue(group, 1);
  const base::Nanos before = runtime.now();
  issuer.ask_for(group, 1, issuer.lane_from(group, 1), {.is_little = true}, {});
  const base::Nanos after = runtime.now();
  CHECK(issuer.asks_at() >= before + std::chrono::milliseconds(250));
  CHECK(issuer.asks_at() <= after + std::chrono::milliseconds(250));
}
