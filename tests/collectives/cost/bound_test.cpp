// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/bound_test.cpp — lower bounds compared with hand-computed times.
#include "collectives/cost/bound.hpp"

#include <catch2/catch.hpp>

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

namespace {

constexpr Count mebibyte = 1 << 20;

/// Returns a network of clusters that are 10 ms apart. Hosts send at 100 Mbit/s, so a host needs
/// 83,886,080 ns to send 1 MiB.
Network network_of(const std::vector<std::size_t>& sizes, double wide_rate = 1e9) {
  return uniform_network(std::make_shared<const Topology>(Topology::clustered(sizes)),
                         {50us, 100e6}, {10ms, wide_rate});
}

std::int64_t bound(Collective collective, const Network& network, Count count, Rank root = 0) {
  return bound_of(make_spec(collective, network.topology, count, root), 1, network).time.count();
}

}  // namespace

TEST_CASE("bound: the last byte of a broadcast leaves the root and then crosses") {
  CHECK(bound(Collective::broadcast, network_of({4, 4}), mebibyte) == 93'886'080);
  CHECK(bound(Collective::broadcast, network_of({4, 4}), 0) == 0);
  CHECK(bound(Collective::broadcast, network_of({8}), mebibyte, 3) == 83'936'080);
}

TEST_CASE("bound: a time beyond the range of the clock is its largest time") {
  CHECK(bound(Collective::broadcast, network_of({4, 4}), Count{1} << 61) >= base::time_max.count());
}

TEST_CASE("bound: all bytes cross a slow link and both of two parallel links") {
  CHECK(bound(Collective::broadcast, network_of({4, 4}, 50e6), mebibyte) == 177'772'160);
  // The first cluster has a link to each of the other two clusters. Both links work in parallel.
  CHECK(bound(Collective::allgather, network_of({1, 1, 1}, 50e6), mebibyte) ==
        10'000'000 + 2 * 83'886'080);
}

TEST_CASE("bound: an allreduce takes 2 (P - 1) transfers of each element") {
  // The bound is the greater of two times: 2 * 7/8 transfers of 83,886,080 ns, or a latency of 10
  // ms and one transfer. At 1 MiB the first time is greater, at 64 KiB the second time.
  CHECK(bound(Collective::allreduce, network_of({4, 4}), mebibyte) == 146'800'640);
  CHECK(bound(Collective::allreduce, network_of({4, 4}), 64 * 1024) == 15'242'880);
}

TEST_CASE(
    "bound: blocks of far hosts arrive after their latency and near ones fill the time before") {
  // A host receives three blocks of its own cluster and four blocks of the other cluster. The bound
  // is the greater of two times: a latency of 10 ms and four far blocks, or a latency of 50 us and
  // all seven blocks.
  const std::int64_t block = 83'886'080;
  CHECK(bound(Collective::gather, network_of({4, 4}), mebibyte) == 50'000 + 7 * block);
  CHECK(bound(Collective::scatter, network_of({4, 4}), mebibyte) == 50'000 + 7 * block);
  CHECK(bound(Collective::gather, network_of({4, 4}), 1024) == 10'000'000 + 4 * 81'920);
  CHECK(bound(Collective::alltoall, network_of({4, 4}), 1024) == 10'000'000 + 4 * 81'920);
}

TEST_CASE("bound: summed contributions arrive as one block") {
  CHECK(bound(Collective::reduce, network_of({4, 4}), mebibyte) == 93'886'080);
  CHECK(bound(Collective::scan, network_of({4, 4}), mebibyte) == 93'886'080);
  CHECK(bound(Collective::reduce_scatter, network_of({4, 4}), 1024) == 10'000'000 + 4 * 81'920);
}

TEST_CASE("bound: a barrier waits for the farthest host over the shortest route") {
  Network network = network_of({1, 1, 1});
  CHECK(bound(Collective::barrier, network, 0) == 10'000'000);
  // The direct link takes 100 ms. The route from 0 over 2 to 1 takes only 2 * 10 ms.
  network.links[1].model = tuning::LinkModel(100ms, 1e9);
  CHECK(bound(Collective::barrier, network, 0) == 20'000'000);
}

TEST_CASE("bound: the bound of thousands of equal hosts is that of fewer hosts") {
  for (const std::vector<std::size_t>& sizes :
       {std::vector<std::size_t>(50, 10), std::vector<std::size_t>(1100, 3)}) {
    CHECK(bound(Collective::broadcast, network_of(sizes), mebibyte, 7) == 93'886'080);
    CHECK(bound(Collective::barrier, network_of(sizes), 1) == 10'000'000);
    CHECK(bound(Collective::gather, network_of(sizes), 1, 7) ==
          bound(Collective::scatter, network_of(sizes), 1, 7));
  }
}

TEST_CASE("bound: the slots of slow streams limit the capacity of a link") {
  Network network = network_of({4, 4}, 1e9);
  for (Link& link : network.links) link = {link.model, 25e6, 2};
  CHECK(bound(Collective::broadcast, network, mebibyte) == 177'772'160);
}

TEST_CASE(
    "bound: data through an exit pass its own links and data of the exit itself only the wide "
    "link") {
  Network pair = network_of({1, 1});
  CHECK(bound(Collective::broadcast, pair, mebibyte) == 93'886'080);
  pair.exits = {0, 1};
  CHECK(bound(Collective::broadcast, pair, mebibyte) == 10'000'000 - 50'000 + 8'388'608);

  // Hosts 1 to 4 send 1 MiB each to the other cluster through their exit, host 0.
  Network exits = network_of({5, 1}, 10e9);
  exits.exits = {0, 5};
  CHECK(bound(Collective::gather, exits, mebibyte, 5) == 10'000'000 + 4 * 83'886'080);
}
