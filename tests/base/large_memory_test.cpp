// SPDX-License-Identifier: Apache-2.0
// tests/base/large_memory_test.cpp — reuse of the memory of large values.
#include "base/large_memory.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/payload.hpp"

using base::large_memory;
using base::Payload;

namespace {

constexpr std::size_t mib = 1 << 20;

Payload of_bytes(std::size_t size, int value) {
  return Payload::filled(size, [&](auto bytes) { std::memset(bytes.data(), value, size); });
}

}  // namespace

TEST_CASE("large memory: the memory of a payload is reused by the next one of its size") {
  for (const std::size_t size :
       {base::large_bytes, 5 * base::large_bytes + 1, mib - 1, mib, 2 * mib + 1, 32 * mib}) {
    INFO(size);
    for (int i = 0; i < 2; ++i) of_bytes(size, i), of_bytes(size, i);
    const std::size_t mapped = large_memory().mapped;
    for (int i = 0; i < 100; ++i) {
      const Payload one = of_bytes(size, i);
      const Payload copy = one;
      REQUIRE(static_cast<int>(copy.bytes().back()) == i);
    }
    CHECK(large_memory().mapped == mapped);
  }
}

TEST_CASE("large memory: a small value does not use it") {
  const base::LargeMemory before = large_memory();
  of_bytes(base::large_bytes - 1, 1);
  CHECK(large_memory().mapped == before.mapped);
  CHECK(large_memory().bytes_kept == before.bytes_kept);
}

TEST_CASE("large memory: values that live at the same time do not share memory") {
  std::vector<Payload> all;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 40; ++i) {
      const std::size_t least = i % 2 == 0 ? mib : base::large_bytes;
      all.push_back(of_bytes(least + static_cast<std::size_t>(i), i));
    }
    for (int i = 0; i < 40; ++i)
      for (const std::byte one : all[static_cast<std::size_t>(i)].bytes())
        if (static_cast<int>(one) != i) FAIL("value " << i << " was written over");
    all.clear();
  }
}

TEST_CASE("large memory: kept memory is bounded and no larger block is kept") {
  std::vector<Payload> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(Payload::filled(32 * mib, [](auto) {}));  // never written, so not resident
  all.clear();
  CHECK(large_memory().bytes_kept <= base::large_bytes_kept);
  const std::size_t kept = large_memory().bytes_kept;
  Payload::filled(base::large_bytes_kept + 1, [](auto) {});
  CHECK(large_memory().bytes_kept == kept);
}

TEST_CASE("large memory: a large payload begins at a cache line") {
  const Payload one = of_bytes(GENERATE(as<std::size_t>(), base::large_bytes, 3 * mib), 0);
  CHECK(reinterpret_cast<std::uintptr_t>(one.bytes().data()) % 64 == 0);
}

TEST_CASE("large memory: kept blocks of earlier sizes are replaced by those of current sizes") {
  std::vector<Payload> all;
  for (int i = 0; i < 20; ++i) all.push_back(Payload::filled(24 * mib, [](auto) {}));
  all.clear();
  const auto use = [&] {
    for (int i = 0; i < 10; ++i) all.push_back(Payload::filled(32 * mib, [](auto) {}));
    all.clear();
  };
  for (int i = 0; i < 3; ++i) use();
  const std::size_t mapped = large_memory().mapped;
  use();
  CHECK(large_memory().mapped == mapped);
}
