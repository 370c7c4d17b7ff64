// SPDX-License-Identifier: Apache-2.0
// tests/commands/used_sizes_test.cpp — sizes of operations that a traced run used.
#include "commands/used_sizes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "groups/group.hpp"
#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using collectives::Collective;

const std::string two_by_two =
    "clusters:\n"
    "  a: {hosts: 2, threads: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
    "  b: {hosts: 1, threads: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
    "links: {all: {latency: 10ms, bandwidth: 100Mbit}}\nlanes:\n";
constexpr std::uint64_t threads = 6, hosts = 3;

commands::UsedSizes used_by(const std::function<void(paths::Thread&)>& program) {
  const trace_sample::Folder folder;
  test_support::run_traced(test_support::Sim(two_by_two, test_support::traced()), folder.path(),
                           program);
  return commands::read_used_sizes(folder.path().string());
}

}  // namespace

TEST_CASE("used sizes: a size is counted as a table of decisions counts it") {
  constexpr std::uint64_t count = 10, bytes = count * 8;
  const auto used = used_by([&](paths::Thread& thread) {
    groups::Group world(thread);
    std::vector<double> in(count, 1), out(count), all(count * threads), blocks(count * threads);
    world.run(groups::allreduce(in, out, "sum"));
    world.run(groups::allreduce(in, out, "sum"));
    world.run(groups::broadcast(out, 0));
    world.run(groups::allgather(in, all));
    world.run(groups::alltoall(blocks, all));
    world.run(groups::barrier());
  });
  CHECK(used.hosts == hosts);
  CHECK(used.of_parts == 0);
  CHECK(used.incomplete == 0);
  const auto find = [&](Collective collective) {
    std::vector<commands::UsedSize> found;
    for (const commands::UsedSize& one : used.sizes)
      if (one.collective == collective) found.push_back(one);
    REQUIRE(found.size() == 1);
    CHECK(found[0].time > base::Nanos(0));
    return std::pair(found[0].bytes, found[0].operations);
  };
  // Each host has two threads, and contributes the blocks of both threads together.
  constexpr std::uint64_t host_threads = threads / hosts;
  CHECK(find(Collective::allreduce) == std::pair(bytes, std::uint64_t{2}));
  CHECK(find(Collective::broadcast) == std::pair(bytes, std::uint64_t{1}));
  CHECK(find(Collective::allgather) == std::pair(host_threads * bytes, std::uint64_t{1}));
  CHECK(find(Collective::alltoall) ==
        std::pair(host_threads * host_threads * bytes, std::uint64_t{1}));
  CHECK(find(Collective::barrier) == std::pair(std::uint64_t{0}, std::uint64_t{1}));
}

TEST_CASE("used sizes: the most expensive come first, and groups of some hosts are left out") {
  const auto used = used_by([](paths::Thread& thread) {
    groups::Group world(thread);
    for (const std::size_t count : {10, 100'000, 1000}) {
      std::vector<double> in(count, 1), out(count);
      world.run(groups::allreduce(in, out, "sum"));
    }
    const auto part = world.split(thread.host().index() == 0 ? 0 : 1);
    std::vector<double> in(10, 1), out(10);
    part->run(groups::allreduce(in, out, "sum"));
  });
  CHECK(used.of_parts == 2);
  std::set<std::uint64_t> bytes;
  for (const commands::UsedSize& one : used.sizes)
    if (one.collective == Collective::allreduce) bytes.insert(one.bytes);
  CHECK(bytes == std::set<std::uint64_t>{80, 8000, 800'000});
  CHECK(used.sizes.front().bytes == 800'000);
  CHECK(std::is_sorted(used.sizes.begin(), used.sizes.end(),
                       [](const auto& one, const auto& other) { return one.time > other.time; }));
}

TEST_CASE("used sizes: a folder without a trace is an error") {
  const trace_sample::Folder folder;
  CHECK_THROWS(commands::read_used_sizes(folder.path().string()));
}
