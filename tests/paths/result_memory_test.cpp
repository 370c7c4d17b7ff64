// SPDX-License-Identifier: Apache-2.0
// tests/paths/result_memory_test.cpp — values that a path takes from a program's memory, and
// results that it writes there.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

#include "base/buffer.hpp"
#include "base/usage_error.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/wrongs.hpp"

namespace {

using namespace test_support;
using base::Buffer;
using runtime::ClockKind;

std::string config(std::size_t count, const std::string& operation = "sum") {
  return fmt::format(
      "clusters:\n  alpha: {{hosts: 1, threads: 3}}\n"
      "collectives:\n  all: {{operation: {}, template: \"i64[{}]\"}}\n",
      operation, count);
}

/// Returns consecutive values that begin with `base`.
Buffer counted(std::size_t count, std::int64_t base) {
  Buffer values(count * sizeof(std::int64_t));
  for (std::int64_t& one : values.as<std::int64_t>()) one = base++;
  return values;
}

}  // namespace

TEST_CASE(
    "result memory: a result is written to the caller's array at every size and on both clocks") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  for (const std::size_t count : {1ul, 100ul, std::size_t{1} << 17}) {
    const Sim sim(config(count));
    Wrongs wrongs;
    sim.run_well(
        [&](paths::Thread& thread) {
          std::vector<std::int64_t> sums(count, -1);
          for (std::int64_t round = 0; round < 3; ++round) {
            Buffer mine = counted(count, round + thread.rank());
            const paths::Result result =
                thread.path("all").move(std::move(mine).freeze(), std::span(sums));
            wrongs.check(result.payload.empty(), "a payload");
            wrongs.equal<std::uint64_t>(result.contributions, 3);
            for (std::size_t i = 0; i < count; ++i)
              wrongs.equal(sums[i], 3 * (round + static_cast<std::int64_t>(i)) + 3);
          }
        },
        clock);
  }
}

TEST_CASE("result memory: an array of another size is refused for its thread only") {
  const Sim sim(config(2));
  std::vector<std::string> words;
  sim.run_well([&](paths::Thread& thread) {
    std::vector<std::int64_t> sums(thread.rank() == 1 ? 3 : 2, 7);
    try {
      thread.path("all").move(counted(2, 1).freeze(), std::span(sums));
    } catch (const base::UsageError& error) {
      words.push_back(error.mistake());
      CHECK(sums == std::vector<std::int64_t>{7, 7, 7});
    }
    CHECK(thread.path("all").move(counted(2, 0).freeze()).contributions == 3);
  });
  CHECK(words == std::vector<std::string>{"path all: a result of 16 bytes for memory of 24 bytes"});
}

TEST_CASE("result memory: an unshared value is normalised in place and a shared one is copied") {
  const Sim sim(config(10, "logical_and"));
  sim.run_well([](paths::Thread& thread) {
    const base::Payload shared = counted(10, 0).freeze();
    const paths::Result result = thread.path("all").move(shared);
    CHECK(result.payload.read<std::int64_t>(0) == 0);
    CHECK(result.payload.read<std::int64_t>(9 * 8) == 1);
    CHECK(shared.read<std::int64_t>(9 * 8) == 9);
  });
}

TEST_CASE(
    "result memory: an array lent to a round is the caller's again after all threads have summed "
    "it") {
  const ClockKind clock = GENERATE(ClockKind::virtual_time, ClockKind::steady);
  const std::size_t count = std::size_t{1} << 17;  // 1 MiB, which is shared_fold_bytes
  const Sim sim(config(count));
  Wrongs wrongs;
  sim.run_well(
      [&](paths::Thread& thread) {
        std::vector<std::int64_t> mine(count, 1);
        std::atomic<bool> is_mine{false};
        Buffer lent =
            Buffer::adopt(std::as_writable_bytes(std::span(mine)), [&is_mine] { is_mine = true; });
        const paths::Result result = thread.path("all").move(std::move(lent).freeze());
        wrongs.check(is_mine, "the array is lent");
        wrongs.equal<std::int64_t>(result.payload.read<std::int64_t>(), 3);
      },
      clock);
}
