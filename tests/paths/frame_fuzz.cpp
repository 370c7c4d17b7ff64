// SPDX-License-Identifier: Apache-2.0
// tests/paths/frame_fuzz.cpp — decoding of arbitrary bytes. The decoder must not throw or read
// beyond the end.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/visible.hpp"
#include "paths/wire/frame.hpp"
#include "runtime/random.hpp"

namespace {

using namespace paths;
using Bytes = std::vector<std::byte>;

std::uint64_t seeds() {
  const char* given = std::getenv("PATHS_SEEDS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20'000;
}

Bytes random_bytes(runtime::Random& random, std::size_t size_max) {
  Bytes bytes(random.below(size_max + 1));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

std::string random_text(runtime::Random& random) {
  const Bytes bytes = random_bytes(random, 40);
  return base::visible({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Frame random_frame(runtime::Random& random) {
  const auto small = [&random] { return static_cast<std::uint32_t>(random.next()); };
  Frame frame;
  frame.kind = static_cast<FrameKind>(random.below(11));
  frame.run_high = random.next();
  frame.run_low = random.next();
  frame.from_host = small();
  frame.credits = small();
  frame.call = random.next();
  frame.stage = small();
  if (random.chance(0.5)) frame.text = random_text(random);
  if (frame.kind == FrameKind::lane) {
    frame.lane = std::make_shared<LaneFrame>();
    frame.lane->kind = static_cast<LaneKind>(random.below(13));
    frame.lane->is_granted = random.chance(0.5);
    frame.lane->is_at_once = random.chance(0.5);
    frame.lane->source = small();
    frame.lane->target = small();
    frame.lane->group = random.next();
    frame.lane->bytes = random.next();
    frame.lane->lag = base::Nanos(random.next() >> 8);
    if (frame.lane->kind == LaneKind::data)
      frame.lane->payload = base::Payload::copy_of(random_bytes(random, 100));
  }
  Operation& operation = frame.operation;
  operation.kind = static_cast<OperationKind>(random.below(13));
  operation.one_way = random.chance(0.5);
  operation.kept = random.chance(0.5);
  operation.path = small();
  operation.thread = small();
  operation.slot = small();
  operation.segments = small() | 1;
  operation.segment = small() % operation.segments;
  frame.time_left = std::chrono::milliseconds(small());
  operation.sequence = random.next();
  operation.number = random.next();
  operation.contributions = random.next();
  operation.payload = base::Payload::copy_of(random_bytes(random, 100));
  frame.result = {static_cast<Condition>(random.below(3)),
                  random.chance(0.5),
                  random.next(),
                  random.next(),
                  random.next(),
                  base::Payload::copy_of(random_bytes(random, 100)),
                  {}};
  frame.result.origin = {static_cast<Origin::Kind>(random.below(4)),
                         static_cast<std::uint32_t>(random.next()), random.next(),
                         static_cast<std::int64_t>(random.next())};
  const bool fails = frame.kind == FrameKind::error ||
                     (frame.kind != FrameKind::reply && frame.kind != FrameKind::lane &&
                      !is_control(frame.kind) && random.chance(0.3));
  if (fails) {
    operation.failure = std::make_shared<const TravelError>(
        random_text(random), random_text(random), random_text(random), random_text(random));
  }
  return frame;
}

void mutate(Bytes& bytes, runtime::Random& random) {
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::size_t place = random.below(bytes.size() + 1);
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(place);
    switch (random.below(4)) {
      case 0: bytes.insert(here, static_cast<std::byte>(random.next())); break;
      case 1: bytes.resize(place); break;
      case 2:
        if (here != bytes.end()) bytes.erase(here);
        break;
      default:
        if (here != bytes.end()) *here ^= static_cast<std::byte>(1u << random.below(8));
    }
  }
}

/// Decodes copies of the bytes, each in an allocation of exactly its size. Sanitizers then detect
/// if the decoder reads beyond the end.
std::optional<Frame> decode_exactly(const Bytes& header, const Bytes& body) {
  const auto exact = std::make_unique<std::byte[]>(header.size());
  std::copy(header.begin(), header.end(), exact.get());
  auto held = std::make_shared<std::unique_ptr<std::byte[]>>(new std::byte[body.size()]);
  std::copy(body.begin(), body.end(), held->get());
  return decode_frame({exact.get(), header.size()},
                      base::Payload::adopt({held->get(), body.size()}, [held] {}));
}

Bytes body_of(const Frame& frame) {
  const base::Payload body = encode_body(frame);
  return {body.bytes().begin(), body.bytes().end()};
}

/// Encodes a decoded frame, decodes these bytes, and encodes the new frame. Returns whether both
/// encodings have the same bytes.
bool stays(const Frame& read) {
  const Bytes header = encode_header(read);
  const auto again = decode_exactly(header, body_of(read));
  return again && encode_header(*again) == header && body_of(*again) == body_of(read);
}

}  // namespace

TEST_CASE("frame: every frame is read back to the bytes it came from") {
  const std::uint64_t count = seeds();
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    runtime::Random random(seed);
    const Frame frame = random_frame(random);
    const Bytes header = encode_header(frame);
    const Bytes body = body_of(frame);
    const auto read = decode_exactly(header, body);
    if (read && encode_header(*read) == header && body_of(*read) == body) continue;
    INFO("seed " << seed);
    REQUIRE(false);
  }
}

TEST_CASE("frame: damaged frames and noise are refused or read as a valid frame") {
  const std::uint64_t count = seeds();
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    runtime::Random random(seed, 1);
    Bytes header, body;
    if (random.chance(0.1)) {
      header = random_bytes(random, 200);
      body = random_bytes(random, 200);
    } else {
      const Frame frame = random_frame(random);
      header = encode_header(frame);
      body = body_of(frame);
      mutate(random.chance(0.8) ? header : body, random);
    }
    const auto read = decode_exactly(header, body);
    if (!read) {
      ++refused;
    } else if (read->version == protocol_version && !stays(*read)) {
      INFO("seed " << seed);
      REQUIRE(false);
    }
  }
  CHECK(refused > count / 10);
  CHECK(refused < count);
}
