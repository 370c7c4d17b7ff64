// SPDX-License-Identifier: Apache-2.0
// tests/pricing/best_test.cpp — what is chosen, and how near it comes to what nothing can beat.
#include "pricing/best.hpp"

#include <catch2/catch.hpp>

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

namespace {

Network two_by_four() {
  return uniform_network(std::make_shared<const Topology>(Topology::clustered({4, 4})),
                         {50us, 100e6}, {10ms, 1e9});
}

double ratio(Collective collective, Count bytes) {
  const Network network = two_by_four();
  const Task task = make_task(collective, network.topology, bytes);
  const Best best = best_of(task, 1, network);
  INFO(best.candidate.algorithm->name << ' ' << best.candidate.parameters.text());
  CHECK(best.finished <= best.priced);
  return static_cast<double>(best.price.time.count()) /
         static_cast<double>(bound_of(task, 1, network).time.count());
}

}  // namespace

TEST_CASE("best: 64 KiB over two clusters of four hosts near the bound") {
  CHECK(ratio(Collective::broadcast, 64 * 1024) <= 1.10);
  CHECK(ratio(Collective::allreduce, 64 * 1024) <= 1.12);
}

TEST_CASE("best: 8 bytes take a latency and half a millisecond") {
  const Network network = two_by_four();
  for (const Collective collective : all_collectives) {
    const Best best = best_of(make_task(collective, network.topology, 8), 1, network);
    INFO(name_of(collective) << ": " << best.candidate.algorithm->name);
    CHECK(best.price.time <= 10500us);
  }
}

TEST_CASE("best: nothing that was left out is more than 2% cheaper") {
  const Network network = two_by_four();
  for (const Collective collective : {Collective::reduce, Collective::allgather}) {
    const Task task = make_task(collective, network.topology, 10'000);
    const Best some = best_of(task, 1, network);
    const Best all = best_of_all(task, 1, network);
    CHECK(some.price.time <= all.price.time * 102 / 100);
    CHECK(some.candidates == all.candidates);
    CHECK(some.priced <= all.priced);
  }
}

TEST_CASE("best: sums of another order than asked for are left out") {
  const Network network = two_by_four();
  const Task task = make_task(Collective::allreduce, network.topology, 100'000);
  for (const Family& family : families_of(task, 1, Order::canonical))
    for (const Candidate& candidate : family)
      CHECK(candidate.algorithm->order(task, candidate.parameters) == Order::canonical);
}
