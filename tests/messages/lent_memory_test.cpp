// SPDX-License-Identifier: Apache-2.0
// tests/messages/lent_memory_test.cpp — messages in memory that the sender and the receiver lend,
// and may take back early.
#include "paths/messages/channels/lent_memory.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "runtime/random.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/lane_hosts.hpp"

namespace {

using base::Nanos;
using base::Payload;
using paths::LaneFrame;
using paths::LaneKind;
using paths::LentMemory;
using paths::NamedMessage;
using namespace std::chrono_literals;
using namespace test_support;

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::size_t size, std::uint64_t seed) {
  Bytes bytes(size);
  runtime::Random random(seed);
  for (std::byte& one : bytes) one = static_cast<std::byte>(random.below(256));
  return bytes;
}

/// Cuts `bytes` at random into consecutive pieces. Some pieces are empty.
std::vector<std::span<std::byte>> pieces_of(Bytes& bytes, runtime::Random& random) {
  std::vector<std::span<std::byte>> pieces;
  for (std::span<std::byte> rest(bytes); !rest.empty();) {
    const std::size_t size = std::min<std::size_t>(rest.size(), random.below(bytes.size() / 3 + 2));
    pieces.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  pieces.push_back({});
  return pieces;
}

LentMemory lent(Bytes& bytes, std::uint64_t seed = 1) {
  runtime::Random random(seed);
  return LentMemory(pieces_of(bytes, random));
}

NamedMessage named(std::uint64_t name) { return {.channel = 3, .name = name, .order = name}; }

/// Two hosts with a latency of 1 ms between them. A byte takes 8 ns, so a frame takes half a
/// millisecond.
struct Pair {
  Pair() { plan->lanes.inbox_bytes = 1 << 20; }
  template <class Use>
  void run(const Use& use) {
    runtime.run([&] {
      LaneHosts hosts(runtime, plan);
      const auto here = hosts[0].group("all", hosts.all()),
                 there = hosts[1].group("all", hosts.all());
      runtime.sleep_until(10ms);  // the receiver's credit has arrived before 10 ms
      use(*here, *there);
    });
  }
  std::shared_ptr<paths::Plan> plan = lane_plan({2}, "{latency: 1ms, bandwidth: 1Gbit}", "");
  runtime::Runtime runtime{{.clock = runtime::ClockKind::virtual_time}};
};

}  // namespace

TEST_CASE("lent memory: the bytes of any pieces follow each other") {
  const auto seed = GENERATE(range(1, 200));
  runtime::Random random(static_cast<std::uint64_t>(seed));
  INFO("seed " << seed);
  const std::size_t size = random.below(1000);
  Bytes bytes = bytes_of(size, random.next());
  Bytes expected = bytes;
  const LentMemory memory(pieces_of(bytes, random));
  REQUIRE(memory.size() == size);
  CHECK(memory.empty() == (size == 0));
  for (int i = 0; i < 20; ++i) {
    const std::size_t offset = random.below(size + 1), some = random.below(size - offset + 1);
    const Payload copy = memory.copy(offset, some);
    REQUIRE(std::equal(copy.bytes().begin(), copy.bytes().end(),
                       expected.begin() + static_cast<std::ptrdiff_t>(offset)));
    REQUIRE(copy.size() == some);
    const Bytes written = bytes_of(some, random.next());
    memory.write(offset, written);
    std::copy(written.begin(), written.end(),
              expected.begin() + static_cast<std::ptrdiff_t>(offset));
    REQUIRE(bytes == expected);
  }
}

TEST_CASE("lent memory: a message between lent places arrives when a copied message would") {
  const std::size_t size = GENERATE(1, 65'536, 65'537, 400'000);
  std::vector<Nanos> sent, came;
  for (const bool is_lent : {false, true}) {
    Pair pair;
    pair.run([&](paths::MessageGroup& here, paths::MessageGroup& there) {
      Bytes from = bytes_of(size, 7), to(size);
      const Bytes expected = from;
      auto sending = is_lent ? here.send(1, named(0), lent(from))
                             : here.send(1, named(0), Payload::copy_of(from));
      auto receiving =
          is_lent ? there.receive(0, named(0), lent(to, 2)) : there.receive(0, named(0));
      sending.wait();
      sent.push_back(pair.runtime.now());
      // After wait(), the sender is permitted to overwrite its memory.
      std::fill(from.begin(), from.end(), std::byte{0xEE});
      const auto [message, is_in_place] = receiving.wait();
      came.push_back(pair.runtime.now());
      CHECK(is_in_place == is_lent);
      if (!is_lent) std::copy(message.bytes().begin(), message.bytes().end(), to.begin());
      CHECK(message.empty() == is_lent);
      CHECK(to == expected);
    });
  }
  CHECK(sent[0] == sent[1]);
  CHECK(came[0] == came[1]);
}

TEST_CASE("lent memory: a message that arrived before its receive is copied to the lent place") {
  Pair pair;
  pair.run([&](paths::MessageGroup& here, paths::MessageGroup& there) {
    Bytes from = bytes_of(100'000, 7), to(100'000);
    here.send(1, named(0), Payload::copy_of(from));
    pair.runtime.sleep_for(500ms);
    auto receiving = there.receive(0, named(0), lent(to));
    CHECK(receiving.done());
    CHECK(receiving.wait().payload.empty());
    CHECK(to == from);
  });
}

TEST_CASE(
    "lent memory: a message of another size is returned as it is and leaves the lent place "
    "unchanged") {
  const std::size_t size = GENERATE(0, 99'999, 100'001);
  Pair pair;
  pair.run([&](paths::MessageGroup& here, paths::MessageGroup& there) {
    Bytes from = bytes_of(size, 7), to(100'000);
    here.send(1, named(0), Payload::copy_of(from));
    auto receiving = there.receive(0, named(0), lent(to));
    const auto [message, is_in_place] = receiving.wait();
    CHECK_FALSE(is_in_place);
    CHECK(std::equal(from.begin(), from.end(), message.bytes().begin(), message.bytes().end()));
    CHECK(to == Bytes(100'000));
  });
}

TEST_CASE("lent memory: memory that was taken back is not touched and delays no other message") {
  // The message is under way for 3.2 ms. Its memory is taken back before, during or after that
  // time.
  const Nanos taken_back_at = GENERATE(0us, 700us, 2000us, 4000us);
  const bool is_sender = GENERATE(true, false);
  Pair pair;
  pair.run([&](paths::MessageGroup& here, paths::MessageGroup& there) {
    constexpr std::size_t size = 400'000;
    auto from = std::make_unique<Bytes>(bytes_of(size, 7)), to = std::make_unique<Bytes>(size);
    auto sending = here.send(1, named(0), lent(*from));
    auto receiving = there.receive(0, named(0), lent(*to));
    pair.runtime.sleep_for(taken_back_at);
    if (is_sender) {
      sending = {};
      from.reset();
    } else {
      receiving = {};
      to.reset();
    }
    Bytes next = bytes_of(size, 8), came(size);
    auto behind = here.send(1, named(1), lent(next));
    there.receive(0, named(1), lent(came)).wait();
    CHECK(came == next);
    pair.runtime.sleep_for(50ms);
    if (is_sender) {
      CHECK(receiving.done() == (taken_back_at == 4000us));
      here.fail({3, 3}, "it took its memory back");
      if (!receiving.done())
        CHECK_THROWS_WITH(receiving.wait(), Catch::Contains("it took its memory back"));
    } else {
      sending.wait();
    }
  });
}

TEST_CASE("lent memory: leaving a group does not wait for messages whose memory was taken back") {
  Pair pair;
  pair.run([&](paths::MessageGroup& here, paths::MessageGroup&) {
    Bytes large = bytes_of(300'000, 7);
    const Nanos begin = pair.runtime.now();
    here.send(1, named(0), lent(large));  // no thread receives it
    here.leave();
    CHECK(pair.runtime.now() == begin);
  });
}

TEST_CASE("lent memory: memory is lent if frames leave one by one") {
  const auto is_paced = [](std::shared_ptr<paths::Plan> plan, runtime::ClockKind clock,
                           bool reports_room) {
    runtime::Runtime runtime({.clock = clock});
    LaneHosts hosts(runtime, std::move(plan));
    if (reports_room) hosts.has_room = [](std::uint32_t, std::uint32_t) { return true; };
    bool answer = false;
    runtime.run([&] { answer = hosts[0].group("all", hosts.all())->is_paced(1); });
    return answer;
  };
  const auto steady = runtime::ClockKind::steady;
  const auto simulated = runtime::ClockKind::virtual_time;
  const char* const network = "{latency: 1ms, bandwidth: 1Gbit}";
  const auto with_frames = [&](std::uint64_t bytes) {
    auto plan = lane_plan({2}, network, "");
    plan->lanes.frame_bytes = bytes;
    return plan;
  };
  const auto with_streams = [] {
    return lane_plan({1, 1}, "", "{latency: 1ms, stream_rate: 10Mbit, streams: 4}");
  };
  CHECK(is_paced(lane_plan({2}, network, ""), simulated, false));
  CHECK(is_paced(lane_plan({2}, network, ""), steady, false));
  CHECK_FALSE(is_paced(lane_plan({2}, "", ""), simulated, true));
  CHECK_FALSE(is_paced(lane_plan({2}, "", ""), steady, false));
  CHECK(is_paced(lane_plan({2}, "", ""), steady, true));
  CHECK(is_paced(with_frames(1 << 20), steady, true));
  CHECK_FALSE(is_paced(with_frames(2 << 20), steady, true));
  CHECK_FALSE(is_paced(with_frames(0), steady, true));
  CHECK_FALSE(is_paced(with_streams(), steady, true));
  CHECK_FALSE(is_paced(with_streams(), simulated, false));
}

TEST_CASE(
    "lent memory: without room only one frame is handed over and with room all others follow") {
  runtime::Runtime runtime;
  LaneHosts hosts(runtime, lane_plan({2}, "", ""));
  std::atomic<bool> is_room{false};
  std::atomic<std::uint64_t> handed_over{0};
  hosts.has_room = [&](std::uint32_t, std::uint32_t) { return is_room.load(); };
  hosts.on_frame = [&](std::uint32_t from, std::uint32_t, LaneFrame& frame) {
    if (from == 0 && frame.kind == LaneKind::data) handed_over += frame.payload.size();
  };
  runtime.run([&] {
    const auto here = hosts[0].group("all", hosts.all()),
               there = hosts[1].group("all", hosts.all());
    constexpr std::size_t size = 10 << 20;
    Bytes from = bytes_of(size, 7), to(size);
    auto receiving = there->receive(0, named(0), lent(to));
    auto sending = here->send(1, named(0), lent(from));
    CHECK(handed_over == 64 << 10);
    CHECK_FALSE(sending.done());
    hosts[0].room_made(1);  // reports room although there is none
    CHECK(handed_over == 64 << 10);
    is_room = true;
    hosts[0].room_made(1);
    sending.wait();
    receiving.wait();
    CHECK(to == from);
    is_room = false;
    // Small messages are handed over although there is no room, until their bytes and overhead
    // together reach the size of one frame.
    for (std::uint64_t name = 1; name < 2000; ++name) here->send(1, named(name), Payload::of(name));
    CHECK(handed_over < size + 600 * sizeof(std::uint64_t));
    is_room = true;
    hosts[0].room_made(1);
    for (std::uint64_t name = 1; name < 2000; ++name)
      REQUIRE(there->receive(0, named(name)).wait().payload.read<std::uint64_t>() == name);
  });
}

TEST_CASE("lent memory: messages of many concurrent senders and receivers all arrive") {
  runtime::Runtime runtime;
  LaneHosts hosts(runtime, lane_plan({2}, "", ""));
  hosts.has_room = [](std::uint32_t, std::uint32_t) { return true; };
  // Size in bytes of a message that is so large that its sender must let other contexts run while
  // it sends.
  constexpr std::size_t size = 3 << 20;
  std::atomic<std::size_t> wrong{0};
  runtime.run([&] {
    const auto groups = hosts.groups();
    in_threads(runtime, 4, [&](std::uint32_t thread) {
      const std::uint32_t me = thread % 2, pair = thread / 2;
      Bytes from(size, static_cast<std::byte>(thread)), to(size);
      const Bytes expected(size, static_cast<std::byte>(thread ^ 1));
      for (std::uint64_t i = 0; i < 100; ++i) {
        std::fill(to.begin(), to.end(), std::byte{0xEE});
        auto receiving = groups[me]->receive(1 - me, named(2 * i + pair), lent(to));
        groups[me]->send(1 - me, named(2 * i + pair), lent(from)).wait();
        receiving.wait();
        if (to != expected) ++wrong;
      }
    });
  });
  CHECK(wrong == 0);
}
