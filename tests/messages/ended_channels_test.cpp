// SPDX-License-Identifier: Apache-2.0
// tests/messages/ended_channels_test.cpp — channels of a group on which a host needed no messages.
#include "paths/messages/ended_channels.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "paths/messages/group_state.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/lane_hosts.hpp"

namespace {

using paths::EndedChannels;
using paths::GroupState;

const auto barrier = std::make_shared<const std::string>("barrier");

void note(GroupState& group, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t channel = first; channel < first + count; ++channel)
    REQUIRE(group.ended->note(channel, 100 + channel, barrier));
}

}  // namespace

TEST_CASE("ended channels: they are taken once and only consecutive channels are noted") {
  EndedChannels ended;
  CHECK(ended.note(3, 30, barrier));
  CHECK(ended.note(4, 40, barrier));
  CHECK_FALSE(ended.note(6, 60, barrier));
  CHECK_FALSE(ended.note(3, 30, barrier));
  int taken = 0;
  const auto take = [&](const paths::Channels& which, const auto& digest_of, const auto& what) {
    ++taken;
    CHECK(which.first == 3);
    CHECK(which.last == 4);
    CHECK(digest_of(3) == 30);
    CHECK(digest_of(4) == 40);
    CHECK(*what == "barrier");
  };
  ended.take(take);
  ended.take(take);
  CHECK(taken == 1);
  CHECK(ended.note(9, 90, barrier));
}

TEST_CASE("ended channels: a group closes all of them and remembers the purposes of the last") {
  GroupState group;
  note(group, 0, 1000);
  CHECK_FALSE(group.is_closed(0));
  group.close_ended();
  for (const std::uint64_t channel : {0, 1, 500, 999}) CHECK(group.is_closed(channel));
  CHECK_FALSE(group.is_closed(1000));
  CHECK(group.closed_before == 1000);
  CHECK(group.closed.empty());
  CHECK(group.closed_purposes.size() == EndedChannels::purposes_max);
  CHECK(group.closed_purposes.at(999) == 1099);
  CHECK(group.closed_purposes.at(1000 - EndedChannels::purposes_max) ==
        1100 - EndedChannels::purposes_max);
  CHECK(group.text_of_closed(999).find("after 'barrier'") != std::string::npos);
}

TEST_CASE("ended channels: a group closes them though an earlier channel is open") {
  GroupState group;
  note(group, 2, 3);
  group.close_ended();
  CHECK_FALSE(group.is_closed(1));
  for (const std::uint64_t channel : {2, 3, 4}) CHECK(group.is_closed(channel));
  group.close({0, 1}, nullptr);
  CHECK(group.closed_before == 5);
  CHECK(group.closed.empty());
}

TEST_CASE("ended channels: a message on one of them is refused with its purpose") {
  test_support::on_virtual_clock([](runtime::Runtime& runtime) {
    test_support::LaneHosts hosts(
        runtime, test_support::lane_plan({2}, "{latency: 1ms, bandwidth: 8Mbit}", ""));
    const auto a = hosts[0].group("all", hosts.all()), b = hosts[1].group("all", hosts.all());
    for (const std::uint64_t channel : {0, 1}) b->close(channel, barrier, 5);
    a->send(1, {.channel = 1, .signature_digest = 5}, base::Payload::of(1));
    CHECK_THROWS_WITH(b->receive(0, {.channel = 2, .signature_digest = 6}).wait(),
                      Catch::Contains("channel 1 of group all, which is closed after 'barrier'"));
  });
}
