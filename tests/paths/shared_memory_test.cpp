// SPDX-License-Identifier: Apache-2.0
// tests/paths/shared_memory_test.cpp — rings and their frames: wraparound, garbage and invalid
// peers.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "paths/one_machine.hpp"
#include "paths/wire/shared_memory/codec.hpp"
#include "runtime/random.hpp"
#include "tests/support/transport_scene.hpp"

namespace {

using namespace paths;
using namespace test_support;

constexpr std::size_t ring_bytes = RingArea::ring_bytes;

/// Both ends of one ring, writer and reader, in this process.
struct Ends {
  RingArea area = RingArea::make();
  FrameWriter writer;
  FrameReader reader{RingReader(area.control(0), area.bytes(0))};
  int written = 0;
  Ends() {
    writer.begin(RingWriter(area.control(0), area.bytes(0)), [this] { ++written; });
  }
  RingControl& control() { return area.control(0); }
};

}  // namespace

TEST_CASE("shared memory: a record across the end of a ring is read in one piece") {
  RingArea area = RingArea::make();
  RingWriter writer(area.control(0), area.bytes(0));
  RingReader reader(area.control(0), area.bytes(0));
  for (int turn = 0; turn < 3; ++turn) {
    const auto before = writer.room(ring_bytes - 10);
    CHECK(before.size() == ring_bytes);
    writer.publish(ring_bytes - 10);
    reader.data();
    reader.consume(ring_bytes - 10);
    const auto room = writer.room(20);
    for (std::size_t i = 0; i < 20; ++i) room[i] = static_cast<std::byte>(i + 1);
    writer.publish(20);
    const auto data = reader.data();
    REQUIRE(data.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) CHECK(data[i] == static_cast<std::byte>(i + 1));
    reader.consume(20);
  }
}

TEST_CASE(
    "shared memory: frames of all sizes are read unchanged for any interleaving of reader and "
    "writer") {
  const int seed = GENERATE(range(1, 21));
  INFO("seed " << seed);
  runtime::Random random(static_cast<std::uint64_t>(seed));
  Ends ends;
  std::uint64_t sent = 0, received = 0;
  std::vector<std::size_t> sizes;
  constexpr std::uint64_t count = 60;
  while (received < count) {
    if (sent < count && random.chance(0.5)) {
      const bool is_large = random.chance(0.15);
      sizes.push_back(random.below(is_large ? 6 << 20 : 100'000));
      ends.writer.write(7, numbered(sent++, sizes.back()));
    } else if (random.chance(0.5)) {
      ends.writer.push();
    } else if (auto arrived = ends.reader.next()) {
      REQUIRE(arrived->connection == 7);
      REQUIRE(arrived->frame.has_value());
      CHECK(arrived->frame->call == received);
      CHECK(arrived->frame->operation.payload ==
            numbered(received, sizes[received]).operation.payload);
      ++received;
    }
  }
  CHECK(ends.reader.next() == nullptr);
  CHECK(ends.writer.push());
}

TEST_CASE("shared memory: short frames between others are read unchanged") {
  const int seed = GENERATE(range(1, 21));
  INFO("seed " << seed);
  runtime::Random random(static_cast<std::uint64_t>(seed));
  const auto short_of = [](std::uint64_t number) {
    ShortFrame frame;
    frame.is_reply = number % 3 == 0;
    frame.standing = static_cast<std::uint32_t>(number % 7);
    frame.thread = static_cast<std::uint32_t>(number + 1);
    Result& result = frame.result;
    result.condition = static_cast<Condition>(number % 3);
    result.proved = number % 2 == 0;
    result.number = number + 2;
    result.sequence = number + 3;
    result.contributions = number + 4;
    result.origin = {static_cast<Origin::Kind>(number % 4), static_cast<std::uint32_t>(number + 5),
                     number + 6, static_cast<std::int64_t>(number) - 7};
    result.payload = numbered(number, number % 49).operation.payload;
    return frame;
  };
  Ends ends;
  std::uint64_t sent = 0, received = 0;
  constexpr std::uint64_t count = 400;
  std::vector<bool> is_short;
  while (received < count) {
    if (sent < count && random.chance(0.5)) {
      is_short.push_back(random.chance(0.7));
      if (is_short.back())
        ends.writer.write(7, short_of(sent++));
      else
        ends.writer.write(7, numbered(sent++, random.below(random.chance(0.1) ? 6 << 20 : 100)));
    } else if (random.chance(0.5)) {
      ends.writer.push();
    } else if (auto arrived = ends.reader.next()) {
      REQUIRE(arrived->connection == 7);
      REQUIRE_FALSE(arrived->is_last());
      REQUIRE(arrived->is_short == is_short[received]);
      if (is_short[received]) {
        const ShortFrame right = short_of(received), &came = arrived->short_frame;
        CHECK(came.is_reply == right.is_reply);
        CHECK(came.standing == right.standing);
        CHECK(came.thread == right.thread);
        CHECK(came.result.condition == right.result.condition);
        CHECK(came.result.proved == right.result.proved);
        CHECK(came.result.number == right.result.number);
        CHECK(came.result.sequence == right.result.sequence);
        CHECK(came.result.contributions == right.result.contributions);
        CHECK(came.result.origin.kind == right.result.origin.kind);
        CHECK(came.result.origin.cluster == right.result.origin.cluster);
        CHECK(came.result.origin.sequence == right.result.origin.sequence);
        CHECK(came.result.origin.nanos == right.result.origin.nanos);
        CHECK(came.result.payload == right.result.payload);
      }
      ++received;
    }
  }
  CHECK(ends.reader.next() == nullptr);
}

TEST_CASE("shared memory: an invalid short frame is detected and an incomplete one is awaited") {
  const RecordHead head{1, RecordHead::is_short, 8};
  const auto read = [](RecordHead record, const ShortHead& what, std::size_t bytes) {
    Ends ends;
    RingWriter writer(ends.area.control(0), ends.area.bytes(0));
    const auto room = writer.room(128);
    std::memcpy(room.data(), &record, sizeof record);
    std::memcpy(room.data() + sizeof record, &what, sizeof what);
    writer.publish(bytes);
    return ends.reader.next() != nullptr;
  };
  constexpr std::size_t all = sizeof(RecordHead) + sizeof(ShortHead) + 8;
  CHECK(read(head, {}, all));
  for (std::size_t bytes = 0; bytes < all; ++bytes) CHECK_FALSE(read(head, {}, bytes));
  CHECK_THROWS_AS(read({1, RecordHead::is_short, 49}, {}, 128), LinkError);
  CHECK_THROWS_AS(read({1, RecordHead::is_short, ~std::uint64_t{0}}, {}, 128), LinkError);
  CHECK_THROWS_AS(read(head, {.is_reply = 2}, all), LinkError);
  CHECK_THROWS_AS(read(head, {.condition = 3}, all), LinkError);
  CHECK_THROWS_AS(read(head, {.proved = 2}, all), LinkError);
  CHECK_THROWS_AS(read(head, {.origin = 4}, all), LinkError);
}

TEST_CASE("shared memory: frames that are read as they arrive reuse the same memory") {
  const std::size_t bytes = GENERATE(0, 8, 3000, 100'000);
  constexpr std::size_t near_bytes = 1 << 10;
  Ends ends;
  std::uint64_t furthest = 0;
  for (std::uint64_t number = 0; number < 500; ++number) {
    const std::uint64_t before = ends.control().written.load();
    ends.writer.write(1, numbered(number, bytes));
    const std::uint64_t begun = (ends.control().written.load() - bytes) % ring_bytes;
    if (number > 0) furthest = std::max(furthest, begun);
    REQUIRE(ends.control().written.load() > before);
    const auto* const arrived = ends.reader.next();
    REQUIRE(arrived != nullptr);
    REQUIRE(arrived->frame->call == number);
    REQUIRE(ends.reader.next() == nullptr);
  }
  CHECK(furthest < 2 * near_bytes + bytes);
  // More bytes were written than the ring can hold, so positions wrapped around.
  CHECK(ends.control().written.load() > ring_bytes);
}

TEST_CASE("shared memory: reused memory has room at once for the next frame") {
  const int seed = GENERATE(range(1, 21));
  INFO("seed " << seed);
  runtime::Random random(static_cast<std::uint64_t>(seed));
  Ends ends;
  for (std::uint64_t number = 0; number < 2000; ++number) {
    ends.writer.write(1, numbered(number, random.below(random.chance(0.1) ? 60'000 : 2000)));
    REQUIRE_FALSE(ends.writer.has_kept());
    const auto* const arrived = ends.reader.next();
    REQUIRE(arrived != nullptr);
    REQUIRE(arrived->frame->call == number);
  }
}

TEST_CASE("shared memory: skipping more than exists or twice in a row is an error") {
  const auto read = [](std::size_t used, std::uint64_t published) {
    Ends ends;
    RingWriter writer(ends.area.control(0), ends.area.bytes(0));
    RingReader reader(ends.area.control(0), ends.area.bytes(0));
    const RecordHead head{1, RecordHead::is_left_out, 0};
    for (const std::size_t place : {std::size_t{0}, used})
      std::memcpy(ends.area.bytes(0) + place, &head, sizeof head);
    writer.publish(used);
    reader.data();
    reader.consume(used);
    ends.reader = FrameReader(reader);
    writer.publish(published);
    return ends.reader.next() != nullptr;
  };
  constexpr std::size_t used = 5000, rest = ring_bytes - used;
  CHECK_FALSE(read(used, rest));
  CHECK_FALSE(read(used, rest + sizeof(RecordHead) - 1));
  CHECK_THROWS_AS(read(used, rest + sizeof(RecordHead)), LinkError);
  CHECK_THROWS_AS(read(used, rest - 1), LinkError);
  CHECK_THROWS_AS(read(used, sizeof(RecordHead)), LinkError);
}

TEST_CASE("shared memory: a reader makes no room for a body beyond the receiver's maximum") {
  constexpr std::uint64_t unasked = unasked_body_bytes;
  const auto read = [](std::uint64_t bytes, std::uint64_t most) {
    Ends ends;
    std::uint64_t asked = 0;
    ends.reader.limit_bodies([&](std::uint32_t connection, const Frame& head) {
      CHECK(connection == 1);
      CHECK(head.call == 7);
      ++asked;
      return most;
    });
    ends.writer.write(1, numbered(7, bytes));
    ends.reader.next();
    return asked;
  };
  CHECK(read(unasked, 0) == 0);
  CHECK(read(unasked + 1, unasked + 1) == 1);
  CHECK_THROWS_WITH(read(unasked + 2, unasked + 1),
                    "a body of 1048578 bytes, of which at most 1048577 may come");
  CHECK_THROWS_AS(read(2 * unasked, 0), LinkError);
}

TEST_CASE("shared memory: a writer that waits for room is notified once half of the ring is free") {
  Ends ends;
  ends.writer.write(1, numbered(0, 3 << 20));
  CHECK_FALSE(ends.reader.must_notify_writer());
  ends.writer.write(1, numbered(1, 3 << 20));
  CHECK(ends.writer.has_kept());
  CHECK_FALSE(ends.reader.must_notify_writer());
  REQUIRE(ends.reader.next() != nullptr);
  CHECK(ends.reader.must_notify_writer());
  CHECK_FALSE(ends.reader.must_notify_writer());
  CHECK(ends.writer.push());
  REQUIRE(ends.reader.next() != nullptr);
}

TEST_CASE("shared memory: impossible indexes are detected by reader and writer") {
  Ends ends;
  const std::uint64_t wrong = GENERATE(ring_bytes + 1, std::uint64_t{1} << 63, ~std::uint64_t{0});
  ends.control().written.store(wrong);
  CHECK_THROWS_AS(ends.reader.next(), LinkError);
  Ends others;
  others.writer.write(1, numbered(0, ring_bytes));
  others.control().read.store(wrong);
  CHECK_THROWS_AS(others.writer.push(), LinkError);
}

TEST_CASE("shared memory: bytes that are no frame are an error and nothing beyond them is read") {
  const int seed = GENERATE(range(1, 201));
  INFO("seed " << seed);
  runtime::Random random(static_cast<std::uint64_t>(seed));
  Ends ends;
  RingWriter writer(ends.area.control(0), ends.area.bytes(0));
  const std::size_t bytes = 64 + random.below(4000);
  const auto room = writer.room(bytes);
  for (std::size_t i = 0; i < bytes; ++i) room[i] = static_cast<std::byte>(random.next());
  if (random.chance(0.7)) {  // with probability 0.7 writes a record head that can be valid
    const auto header = static_cast<std::uint32_t>(random.below(300));
    const RecordHead head{1, random.chance(0.2) ? RecordHead::is_short : header,
                          random.below(random.chance(0.5) ? 49 : 300)};
    std::memcpy(room.data(), &head, sizeof head);
  }
  writer.publish(bytes);
  const auto read_all = [&] {
    while (ends.reader.next()) {
    }
    throw LinkError("it waits for more");
  };
  CHECK_THROWS_AS(read_all(), LinkError);
}

TEST_CASE("shared memory: descriptors that are no memory of a link are refused") {
  CHECK_THROWS_AS(RingArea::of(Descriptor()), LinkError);
  CHECK_THROWS_AS(RingArea::of(Descriptor(open("/dev/null", O_RDWR | O_CLOEXEC))), LinkError);
  CHECK_THROWS_AS(RingArea::of(Descriptor(memfd_create("none", MFD_CLOEXEC))), LinkError);
  const PollingFlag sign = PollingFlag::make();
  CHECK_THROWS_AS(RingArea::of(Descriptor(dup(sign.descriptor()))), LinkError);
  // The memory has the right size, but its owner could shrink it while a host reads it.
  const RingArea area = RingArea::make();
  const auto bytes = lseek(area.descriptor(), 0, SEEK_END);
  Descriptor shrinks(memfd_create("shrinks", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(shrinks.get(), bytes) == 0);
  CHECK_THROWS_AS(RingArea::of(std::move(shrinks)), LinkError);
}

TEST_CASE("shared memory: only its host changes a polling flag and each sleep has another number") {
  PollingFlag own = PollingFlag::make();
  const PollingFlag seen = PollingFlag::of(Descriptor(dup(own.descriptor())));
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own.descriptor(), 0) == MAP_FAILED);
  const std::uint64_t first = seen.sleep();
  CHECK(first != 0);
  own.begin_polling();
  own.begin_polling();
  CHECK(seen.sleep() == 0);
  CHECK_FALSE(own.end_polling());
  CHECK(seen.sleep() == 0);
  CHECK(own.end_polling());
  CHECK(seen.sleep() != 0);
  CHECK(seen.sleep() != first);
}

TEST_CASE("shared memory: addresses tell which hosts are on one machine") {
  CHECK(are_of_one_machine("ipc:///a/b", "ipc://c"));
  CHECK(are_of_one_machine("tcp://127.0.0.1:1", "tcp://localhost:2"));
  CHECK(are_of_one_machine("tcp://[::1]:1", "ipc://x"));
  CHECK(are_of_one_machine("tcp://node-1:1", "tcp://node-1:2"));
  CHECK(are_of_one_machine("tcp://[fe80::1]:1", "tcp://[fe80::1]:2"));
  CHECK_FALSE(are_of_one_machine("tcp://node-1:1", "tcp://node-2:1"));
  CHECK_FALSE(are_of_one_machine("tcp://node-1:1", "tcp://127.0.0.1:1"));
  CHECK_FALSE(are_of_one_machine("", ""));
}
