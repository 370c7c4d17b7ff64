// SPDX-License-Identifier: Apache-2.0
// tests/base/payload_test.cpp — sharing and release of the bytes of payloads.
#include "base/payload.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

using base::Payload;

namespace {

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

bool holds(const Payload& payload, const std::vector<std::byte>& bytes) {
  return std::equal(payload.bytes().begin(), payload.bytes().end(), bytes.begin(), bytes.end());
}

}  // namespace

TEST_CASE("payload: the bytes survive copies, moves and assignments at every size") {
  for (const std::size_t size : {0u, 1u, 8u, 47u, 48u, 49u, 1000u}) {
    const auto bytes = some_bytes(size);
    Payload original = Payload::copy_of(bytes);
    const Payload copy = original;
    Payload moved = std::move(original);
    Payload assigned = Payload::of(1);
    assigned = moved;
    CHECK(holds(copy, bytes));
    CHECK(holds(moved, bytes));
    CHECK(holds(assigned, bytes));
    assigned = std::move(moved);
    CHECK(holds(assigned, bytes));
    const Payload& same = assigned;
    assigned = same;
    CHECK(holds(assigned, bytes));
  }
}

TEST_CASE("payload: a moved-from payload is empty") {
  Payload payload = Payload::copy_of(some_bytes(100));
  const Payload taken = std::move(payload);
  CHECK(payload.empty());
  CHECK(payload.bytes().empty());
  CHECK(taken.size() == 100);
}

TEST_CASE("payload: a copy shares the bytes") {
  const Payload payload = Payload::copy_of(some_bytes(Payload::inline_bytes + 1));
  const Payload copy = payload;
  CHECK(copy.bytes().data() == payload.bytes().data());
}

TEST_CASE("payload: a part shares the bytes and adjacent parts join to one payload") {
  const auto bytes = some_bytes(1000);
  Payload whole = Payload::copy_of(bytes);
  const std::byte* const place = whole.bytes().data();
  Payload first = whole.part(0, 300), second = whole.part(300, 10), third = whole.part(310, 690);
  CHECK(second.bytes().data() == place + 300);
  CHECK(second.size() == 10);
  whole = {};  // the three parts keep the bytes alive
  CHECK_FALSE(first.join(third));
  CHECK(first.join(second));
  const Payload moved = std::move(first);
  first = moved;
  CHECK(first.join(third));
  CHECK(first.bytes().data() == place);
  CHECK(holds(first, bytes));
  CHECK(holds(first.part(300, 10), {bytes.begin() + 300, bytes.begin() + 310}));
  CHECK_FALSE(first.join(Payload::copy_of(bytes)));
  const Payload small = Payload::copy_of(some_bytes(20));
  Payload some = small.part(0, 5);
  CHECK(holds(some, some_bytes(5)));
  CHECK_FALSE(some.join(small.part(5, 15)));  // bytes stored in place cannot be joined
}

TEST_CASE("payload: small bytes are stored inside the payload") {
  const Payload payload = Payload::copy_of(some_bytes(Payload::inline_bytes));
  const auto* begin = reinterpret_cast<const std::byte*>(&payload);
  CHECK(payload.bytes().data() >= begin);
  CHECK(payload.bytes().data() < begin + sizeof payload);
}

TEST_CASE("payload: adopted bytes are not copied and are released with the last copy") {
  for (const std::size_t size : {0u, 3u, 300u}) {
    const auto bytes = some_bytes(size);
    int released = 0;
    {
      Payload last;
      {
        const Payload payload = Payload::adopt(bytes, [&] { ++released; });
        CHECK(payload.bytes().data() == bytes.data());
        last = payload;
        const Payload other = payload;
      }
      CHECK(released == 0);
      CHECK(holds(last, bytes));
    }
    CHECK(released == 1);
  }
}

TEST_CASE("payload: assigning over the last copy releases the old bytes") {
  const auto bytes = some_bytes(64);
  int released = 0;
  Payload payload = Payload::adopt(bytes, [&] { ++released; });
  payload = Payload::of(3.5);
  CHECK(released == 1);
  CHECK(payload.read<double>() == 3.5);
}

TEST_CASE("payload: a plain value is read back at any offset") {
  const struct { std::int32_t a, b; } pair = {7, -9};
  const Payload payload = Payload::of(pair);
  CHECK(payload.read<std::int32_t>() == 7);
  CHECK(payload.read<std::int32_t>(4) == -9);
}

TEST_CASE("payload: filled passes all bytes to the writer") {
  for (const std::size_t size : {8u, 200u}) {
    const Payload payload = Payload::filled(size, [&](std::span<std::byte> bytes) {
      REQUIRE(bytes.size() == size);
      std::fill(bytes.begin(), bytes.end(), std::byte{5});
    });
    CHECK(payload.size() == size);
    CHECK(payload.read<std::uint8_t>(size - 1) == 5);
  }
}

TEST_CASE("payload: equality compares bytes wherever they are stored") {
  const auto bytes = some_bytes(20);
  const Payload here = Payload::copy_of(bytes);
  const Payload there = Payload::adopt(bytes, [] {});
  CHECK(here == there);
  CHECK(Payload() == Payload::copy_of({}));
  CHECK_FALSE(here == Payload::copy_of(some_bytes(19)));
  CHECK_FALSE(Payload::of(1) == Payload::of(2));
}

TEST_CASE("payload: a vector that is given away keeps its bytes in place") {
  std::vector<double> values(100, 0.5);
  const void* const before = values.data();
  const Payload payload = Payload::of(std::move(values));
  CHECK(static_cast<const void*>(payload.bytes().data()) == before);
  CHECK(payload.read<double>(99 * sizeof(double)) == 0.5);
  const Payload few = Payload::of(std::vector<double>{1, 2});
  CHECK(few.read<double>(sizeof(double)) == 2);
}
