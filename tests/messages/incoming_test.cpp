// SPDX-License-Identifier: Apache-2.0
// tests/messages/incoming_test.cpp — credit of messages that are received, dropped or refused.
#include "paths/messages/channels/incoming.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

using paths::charge_of;
using paths::InboundChannel;
using paths::Inbox;
using paths::LaneFrame;
using paths::LaneWait;

namespace {

constexpr std::uint64_t channel = 3;
constexpr std::uint64_t credit = 10'000;

/// The lane from one source, to which the receiver has issued all credit.
struct Source {
  Inbox inbox{credit};
  InboundChannel lane{inbox, credit, 1};
  std::vector<std::shared_ptr<LaneWait>> ended;

  Source() { REQUIRE(lane.account().issue() == credit); }
  LaneFrame frame(std::uint64_t ordinal, std::size_t bytes) const {
    LaneFrame one;
    one.channel = channel;
    one.ordinal = ordinal;
    one.bytes = bytes;
    one.payload = base::Payload::copy_of(std::vector<std::byte>(bytes));
    return one;
  }
  std::string send(std::uint64_t ordinal, std::size_t bytes) {
    return lane.take(frame(ordinal, bytes), ended);
  }
  std::shared_ptr<LaneWait> receive() {
    auto wait = std::make_shared<LaneWait>();
    lane.receive({.channel = channel}, wait);
    return wait;
  }
};

}  // namespace

TEST_CASE("incoming: a message without a receive call uses credit until it is received") {
  Source source;
  CHECK(source.send(0, 100) == "");
  CHECK(source.inbox.held() == charge_of(100));
  CHECK(source.receive()->received.payload.size() == 100);
  CHECK(source.inbox.held() == 0);
  CHECK(source.lane.account().issue() == charge_of(100));
}

TEST_CASE("incoming: a message of an awaited receive call returns its credit at once") {
  Source source;
  const auto wait = source.receive();
  CHECK(source.send(0, 100) == "");
  CHECK(source.ended == std::vector{wait});
  CHECK(source.inbox.held() == 0);
  CHECK(source.lane.account().issue() == charge_of(100));
}

TEST_CASE("incoming: a dropped operation returns the credit of its messages") {
  Source source;
  CHECK(source.send(0, 100) == "");
  CHECK(source.send(1, 200) == "");
  source.lane.close({.first = channel, .last = channel});
  CHECK(source.inbox.held() == 0);
  CHECK(source.lane.account().issue() == charge_of(100) + charge_of(200));
}

TEST_CASE("incoming: a frame of a failed operation returns its credit") {
  Source source;
  CHECK(source.lane.discard(source.frame(0, 100)) == "");
  CHECK(source.inbox.held() == 0);
  CHECK(source.lane.account().issue() == charge_of(100));
}

TEST_CASE("incoming: a frame beyond the credit is refused even if its operation has failed") {
  Source source;
  CHECK(source.lane.discard(source.frame(0, credit)) != "");
  CHECK(source.send(0, credit) != "");
  CHECK(source.inbox.held() == 0);
}

TEST_CASE("incoming: a lane that ends returns all of its credit") {
  Source source;
  CHECK(source.send(0, 100) == "");
  source.lane.drop();
  CHECK(source.inbox.issued() == 0);
}

TEST_CASE("incoming: frames with more bytes in total than their message are refused") {
  Source source;
  LaneFrame first = source.frame(0, 100), second = source.frame(0, 100);
  first.bytes = second.bytes = 150;
  second.offset = 50;
  CHECK(source.lane.take(first, source.ended) == "");
  CHECK(source.lane.take(second, source.ended) == "more than the 150 bytes of a message");
}

TEST_CASE("incoming: a lane is over after its last message even if that message is discarded") {
  Source source;
  LaneFrame begin = source.frame(0, 100), end = source.frame(0, 100);
  begin.bytes = end.bytes = 200;
  end.offset = 100;
  source.lane.end_after(1);
  CHECK(source.lane.discard(begin) == "");
  CHECK_FALSE(source.lane.is_over());
  CHECK(source.lane.discard(end) == "");
  CHECK(source.lane.is_over());
}
