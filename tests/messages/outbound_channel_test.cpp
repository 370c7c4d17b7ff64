// SPDX-License-Identifier: Apache-2.0
// tests/messages/outbound_channel_test.cpp — a channel's choice of its next message, compared with
// the choice from one ordered list.
#include "paths/messages/channels/outbound_channel.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace {

using paths::LaneWait;
using paths::MessageName;
using paths::OutboundChannel;

/// A message of a channel, as an entry of a list in the order of sending.
struct Listed {
  MessageName name;
  std::uint64_t order = 0;
  std::size_t bytes = 0;
  bool waits_for_grant = false, is_granted = false;
  std::shared_ptr<LaneWait> wait;
};

/// Returns the first message in the list that may be sent; nullptr = none. Applies the rule to each
/// message in turn.
const Listed* movable(const std::vector<Listed>& all, std::size_t credit) {
  bool may_pay = true;
  for (const Listed& one : all) {
    if (one.wait->is_abandoned) continue;
    if (one.is_granted) return &one;
    if (one.waits_for_grant) continue;
    if (may_pay && one.bytes <= credit) return &one;
    may_pay = false;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("lanes: the next message of a channel is the one that an ordered list gives") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto draw = [&](std::uint64_t most) { return random() % (most + 1); };
    OutboundChannel::Channel channel;
    std::vector<Listed> all;
    std::uint64_t names = 0;
    for (int step = 0; step < 200; ++step) {
      const std::size_t credit = draw(6);
      const auto some = [&] {
        return all.begin() + static_cast<std::ptrdiff_t>(draw(all.size() - 1));
      };
      const auto can_pay = [&](const OutboundChannel::Message& one) {
        return one.payload.size() <= credit;
      };
      if (const std::uint64_t choice = draw(9); choice < 4) {
        Listed one{{draw(3), names++}, draw(8),      1 + draw(6),
                   draw(2) == 0,       draw(5) == 0, std::make_shared<LaneWait>()};
        const auto later = std::find_if(
            all.begin(), all.end(), [&](const Listed& other) { return other.order > one.order; });
        all.insert(later, one);
        channel.put({.name = one.name,
                     .order = one.order,
                     .payload = base::Payload::filled(one.bytes, [](std::span<std::byte>) {}),
                     .waits_for_grant = one.waits_for_grant,
                     .wait = one.wait,
                     .is_granted = one.is_granted});
      } else if (all.empty()) {
        CHECK(channel.empty());
      } else if (choice < 6) {
        const auto one = some();
        one->is_granted = true;
        OutboundChannel::Message* const message = channel.find(one->name);
        REQUIRE(message != nullptr);
        channel.grant(*message);
      } else if (choice == 6) {
        some()->wait->is_abandoned = true;
      } else if (choice == 7 && draw(9) == 0) {
        const paths::Channels which{draw(3), 3};
        std::vector<std::shared_ptr<LaneWait>> waiting;
        channel.drop(which, waiting);
        const std::size_t gone =
            std::erase_if(all, [&](const Listed& one) { return one.name.channel >= which.first; });
        CHECK(waiting.size() == gone);
      } else if (OutboundChannel::Message* const message = channel.movable(can_pay)) {
        const Listed* const expected = movable(all, credit);
        REQUIRE(expected != nullptr);
        CHECK(message->name == expected->name);
        channel.end(*message);
        std::erase_if(all, [&](const Listed& one) { return &one == expected; });
      }
      const Listed* const expected = movable(all, credit);
      const OutboundChannel::Message* const found = channel.movable(can_pay);
      REQUIRE((expected == nullptr) == (found == nullptr));
      if (found != nullptr) CHECK(found->name == expected->name);
      CHECK(channel.empty() == all.empty());
      CHECK(channel.find({9, names}) == nullptr);
    }
  }
}
