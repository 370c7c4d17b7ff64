// SPDX-License-Identifier: Apache-2.0
// tests/base/ring_test.cpp — a queue that allocates no memory while it is short.
#include "base/ring.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <random>

TEST_CASE("ring: elements leave in the order in which they entered") {
  std::mt19937 random(7);
  base::Ring<int> ring;
  std::deque<int> queue;
  for (int i = 0; i < 20'000; ++i) {
    const bool grows = (i / 500) % 2 == 0;
    if (queue.empty() || random() % 4 < (grows ? 3u : 1u)) {
      ring.push_back(i);
      queue.push_back(i);
    } else {
      CHECK(ring.take_front() == queue.front());
      queue.pop_front();
    }
    REQUIRE(ring.size() == queue.size());
    if (!queue.empty()) REQUIRE(ring[queue.size() / 2] == queue[queue.size() / 2]);
  }
}

TEST_CASE("ring: a removed element is not kept alive") {
  base::Ring<std::shared_ptr<int>> ring;
  const auto held = std::make_shared<int>(1);
  for (int i = 0; i < 200; ++i) ring.push_back(held);
  CHECK(held.use_count() == 201);
  while (!ring.empty()) ring.take_front();
  CHECK(held.use_count() == 1);
}
