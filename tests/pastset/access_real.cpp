// SPDX-License-Identifier: Apache-2.0
// tests/pastset/access_real.cpp — accesses that threads start, complete and cancel concurrently.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "pastset/local_element.hpp"
#include "runtime/random.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/clocks.hpp"

using Started = runtime::Handle<pastset::Stored>;

TEST_CASE("access: concurrent moves and observes and cancels lose no tuple and repeat none") {
  constexpr std::uint64_t threads = 4, each = 3000;
  test_support::on_steady_clock([&](runtime::Runtime& runtime) {
    pastset::LocalElement element("e", *pastset::Template::parse("u64"), {.delta = 8});
    std::vector<std::atomic<int>> seen(threads * each);
    const auto work = [&](std::uint64_t thread) {
      runtime::Random random(thread + 1);
      std::deque<Started> reads;
      const auto take_first = [&] {
        ++seen[reads.front().wait().payload.read<std::uint64_t>()];
        reads.pop_front();
      };
      for (std::uint64_t i = 0; i < each; ++i) {
        Started moved = start_move(element, base::Payload::of(thread * each + i));
        reads.push_back(start_observe(element));
        if (random.chance(0.3) && reads.back().cancel()) reads.back() = start_observe(element);
        while (reads.size() > 4) take_first();
        moved.wait();
      }
      while (!reads.empty()) take_first();
    };
    test_support::in_threads(runtime, threads, [&](std::uint64_t thread) { work(thread); });
    for (const auto& times : seen) REQUIRE(times == 1);
  });
}
