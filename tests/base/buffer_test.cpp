// SPDX-License-Identifier: Apache-2.0
// tests/base/buffer_test.cpp — buffers that are written, frozen to a payload, and thawed to be
// written again.
#include "base/buffer.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/large_memory.hpp"
#include "base/usage_error.hpp"
#include "tests/support/allocations.hpp"

using base::Buffer;
using base::Payload;

namespace {

constexpr std::size_t inline_bytes = Payload::inline_bytes;

/// Sizes in bytes: just above the bytes that a payload stores in place, a medium size, and just
/// above each of the two limits for large values.
const std::vector<std::size_t> sizes = {inline_bytes + 1, 1000, base::large_bytes + 3,
                                        base::mapped_bytes + 3};

void fill(Buffer& buffer, int seed) {
  for (std::size_t i = 0; i < buffer.size(); ++i)
    buffer.bytes()[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed));
}

bool holds(const Payload& payload, int seed) {
  const auto bytes = payload.bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed))) return false;
  return true;
}

}  // namespace

TEST_CASE("buffer: a payload holds the bytes that were written at every size") {
  for (const std::size_t size : {0ul, 1ul, 8ul, 48ul, 49ul, 1000ul, 3ul << 20}) {
    Buffer buffer(size);
    REQUIRE(buffer.size() == size);
    fill(buffer, 3);
    const Payload payload = std::move(buffer).freeze();
    CHECK(payload.size() == size);
    CHECK(holds(payload, 3));
    CHECK(buffer.empty());
  }
}

TEST_CASE("buffer: freezing and later uses of the payload copy nothing") {
  for (const std::size_t size : sizes) {
    Buffer buffer(size);
    const void* const written = buffer.bytes().data();
    Buffer moved = std::move(buffer);
    CHECK(moved.bytes().data() == written);
    const auto allocations = test_support::allocations();
    const auto taken = base::large_memory().taken;
    const Payload payload = std::move(moved).freeze();
    const Payload copy = payload;
    CHECK(payload.bytes().data() == written);
    CHECK(copy.bytes().data() == written);
    CHECK(test_support::allocations() == allocations);
    CHECK(base::large_memory().taken == taken);
  }
}

TEST_CASE("buffer: it has one owner and can be moved but not copied") {
  static_assert(!std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer>);
  Buffer first(100), second;
  fill(first, 1);
  second = std::move(first);
  CHECK(first.empty());
  CHECK(holds(std::move(second).freeze(), 1));
}

TEST_CASE("buffer: a lent array is written in place and released at the end") {
  for (const std::size_t size : {3ul, 300ul}) {
    std::vector<std::byte> array(size);
    int released = 0;
    {
      Payload last;
      {
        Buffer buffer = Buffer::adopt(array, [&] { ++released; });
        fill(buffer, 5);
        last = std::move(buffer).freeze();
      }
      CHECK(released == 0);
      CHECK(last.bytes().data() == array.data());
    }
    CHECK(released == 1);
    CHECK(holds(Payload::copy_of(array), 5));
    {
      const Buffer never_frozen = Buffer::adopt(array, [&] { ++released; });
    }
    CHECK(released == 2);
  }
}

TEST_CASE("buffer: a vector that is given away keeps its values in place") {
  std::vector<double> values(100, 0.5);
  const double* const before = values.data();
  Buffer buffer = Buffer::of(std::move(values));
  CHECK(buffer.as<double>().data() == before);
  buffer.as<double>()[99] = 2;
  CHECK(std::move(buffer).freeze().read<double>(99 * sizeof(double)) == 2);
}

TEST_CASE("buffer: thawing reuses the memory of the only owner and copies shared bytes") {
  for (const std::size_t size : sizes) {
    Buffer buffer(size);
    fill(buffer, 1);
    const void* const written = buffer.bytes().data();
    Payload payload = std::move(buffer).freeze();
    Buffer alone = Buffer::thaw(std::move(payload));
    CHECK(alone.bytes().data() == written);
    payload = std::move(alone).freeze();
    const Payload shared = payload;
    Buffer copied = Buffer::thaw(std::move(payload));
    CHECK(copied.bytes().data() != written);
    fill(copied, 2);
    CHECK(holds(shared, 1));
    CHECK(holds(std::move(copied).freeze(), 2));
  }
}

TEST_CASE("buffer: bytes lent for reading are copied by thaw and never written") {
  const std::vector<std::byte> lent(100, std::byte{7});
  bool is_released = false;
  Buffer buffer = Buffer::thaw(Payload::adopt(lent, [&] { is_released = true; }));
  CHECK(is_released);
  fill(buffer, 1);
  CHECK(std::all_of(lent.begin(), lent.end(), [](std::byte one) { return one == std::byte{7}; }));
  std::vector<std::byte> given(100);
  Buffer again = Buffer::thaw(Buffer::adopt(given, [] {}).freeze());
  CHECK(again.bytes().data() == given.data());
}

TEST_CASE("buffer: shared bytes are written in place once and copied by thaw") {
  std::vector<std::byte> place(100);
  bool is_released = false;
  Buffer buffer = Buffer::adopt_shared(place, [&] { is_released = true; });
  CHECK(buffer.bytes().data() == place.data());
  fill(buffer, 3);
  Buffer again = Buffer::thaw(std::move(buffer).freeze());
  CHECK(is_released);
  CHECK(again.bytes().data() != place.data());
  fill(again, 4);
  CHECK(holds(Payload::copy_of(place), 3));
}

TEST_CASE("buffer: typed access requires whole and aligned values") {
  Buffer buffer(20);
  CHECK(buffer.as<float>().size() == 5);
  CHECK_THROWS_AS(buffer.as<double>(), base::UsageError);
  alignas(8) std::byte array[17];
  Buffer odd = Buffer::adopt({array + 1, 16}, [] {});
  CHECK_THROWS_AS(odd.as<double>(), base::UsageError);
  CHECK(odd.as<char>().size() == 16);
  CHECK(Buffer().as<double>().empty());
}

TEST_CASE("buffer: memory of a freed large accumulator is reused by the next one") {
  for (int round = 0; round < 2; ++round) Buffer(2 * base::large_bytes);
  const auto mapped = base::large_memory().mapped;
  for (int round = 0; round < 100; ++round) {
    Buffer sum(2 * base::large_bytes);
    sum.as<double>()[0] = round;
    CHECK(std::move(sum).freeze().read<double>() == round);
  }
  CHECK(base::large_memory().mapped == mapped);
}
