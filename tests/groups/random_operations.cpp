// SPDX-License-Identifier: Apache-2.0
// tests/groups/random_operations.cpp — drawing, calling, comparing.
#include "tests/groups/random_operations.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "collectives/algorithms/all.hpp"
#include "groups/group.hpp"
#include "groups/network_of.hpp"
#include "tests/groups/reference.hpp"
#include "tests/support/sim.hpp"

namespace {

using collectives::Collective;
using test_support::Drawn;
using test_support::Reference;
using test_support::Sim;
using namespace std::chrono_literals;

/// Up to 3 clusters of up to 4 hosts with up to 3 threads.
std::string random_config(std::mt19937_64& random) {
  std::string config = "clusters:\n";
  const std::size_t clusters = 1 + random() % 3;
  for (std::size_t cluster = 0; cluster < clusters; ++cluster)
    config += fmt::format(
        "  c{}: {{hosts: {}, threads: {}, network: {{latency: 50us, bandwidth: 100Mbit}}}}\n",
        cluster, 1 + random() % 4, random() % 2 == 0 ? 1 : 1 + random() % 3);
  if (clusters > 1) config += "links: {all: {latency: 2ms, bandwidth: 1Gbit}}\n";
  const char* const lanes[] = {"lanes:\n", "lanes: {inbox: 0B}\n", "lanes: {frame: 1KiB}\n"};
  return config + lanes[random() % 3];
}

std::uint64_t random_count(std::mt19937_64& random) {
  const std::uint64_t most[] = {1, 4, 30, 600, 20'000};
  return random() % (most[random() % 5] + 1);
}

Drawn draw(std::mt19937_64& random, std::uint32_t members) {
  Drawn drawn;
  drawn.collective = collectives::all_collectives[random() % 11];
  const char* const operations[] = {"sum", "max", "bitwise_xor", "logical_xor"};
  drawn.operation = operations[random() % 4];
  drawn.root = static_cast<std::uint32_t>(random() % members);
  drawn.salt = random();
  const bool is_alltoall = drawn.collective == Collective::alltoall;
  const bool has_blocks = is_alltoall || drawn.collective == Collective::gather ||
                          drawn.collective == Collective::scatter ||
                          drawn.collective == Collective::allgather ||
                          drawn.collective == Collective::reduce_scatter;
  const bool are_different = has_blocks && random() % 2 == 0;
  const std::size_t blocks = is_alltoall ? std::size_t{members} * members : members;
  for (std::size_t block = 0; block < (are_different ? blocks : 1); ++block)
    drawn.counts.push_back(random_count(random) / (has_blocks ? members : 1));
  drawn.is_in_place = random() % 4 == 0;
  return drawn;
}

/// In some cases one that is drawn from the list, where it can.
void draw_algorithm(std::mt19937_64& random, Drawn& drawn, const collectives::Topology& topology) {
  if (random() % 2 == 0) return;
  const auto& all = collectives::all_algorithms();
  for (int tries = 0; tries < 50; ++tries) {
    const collectives::Algorithm& one = all[random() % all.size()];
    if (!one.does(drawn.collective)) continue;
    const auto task = collectives::make_task(
        drawn.collective, std::make_shared<const collectives::Topology>(topology), 1, 0);
    const auto parameters = one.read("");
    if (!one.why_not(task, parameters).empty()) continue;
    if (is_reduction(drawn.collective) && drawn.operation == "sum" &&
        drawn.collective != Collective::barrier &&
        one.order(task, parameters) > collectives::Order::by_block)
      continue;
    drawn.algorithm = one.name;
    return;
  }
}

struct Arrays {
  std::vector<std::int64_t> in, out, expected;
};

groups::Call call_of(const Drawn& drawn, Arrays& arrays) {
  groups::Call call = groups::call_of(drawn.collective, arrays.in, arrays.out);
  if (is_reduction(drawn.collective)) call.operation = drawn.operation;
  call.root = drawn.root;
  call.counts = drawn.counts;
  call.algorithm = drawn.algorithm;
  if (drawn.is_in_place && arrays.in.size() == arrays.out.size() &&
      drawn.collective != Collective::broadcast) {
    arrays.out = arrays.in;
    if (drawn.collective == Collective::exscan && arrays.expected.size() == arrays.in.size() &&
        !arrays.expected.empty() && arrays.expected[0] == -777)
      arrays.expected = arrays.in;  // nothing is written
    call.in = std::as_bytes(std::span(arrays.out));
    call.out = std::as_writable_bytes(std::span(arrays.out));
  }
  return call;
}

/// Operations one after the other, several under way, with pauses in between.
void run_all(paths::Thread& thread, const std::vector<Drawn>& drawn, std::uint64_t seed,
             std::uint64_t& wrong, runtime::Mutex& mutex) {
  groups::Group world(thread);
  std::mt19937_64 random(seed + world.rank());
  std::vector<Arrays> arrays(drawn.size());
  std::vector<groups::Started> under_way(drawn.size());
  for (std::size_t index = 0; index < drawn.size(); ++index) {
    const Reference reference(drawn[index], world.size());
    arrays[index] = {reference.in(world.rank()), reference.out_before(world.rank()),
                     reference.out(world.rank())};
    if (random() % 3 == 0) thread.sleep_for(std::chrono::microseconds(random() % 3000));
    const groups::Call call = call_of(drawn[index], arrays[index]);
    if (random() % 2 == 0)
      world.run(call);
    else
      under_way[index] = world.start(call);
    if (const std::size_t other = random() % (index + 1); random() % 2 == 0) under_way[other] = {};
  }
  for (auto& one : under_way) one = {};
  const runtime::Lock lock(mutex);
  for (std::size_t index = 0; index < drawn.size(); ++index)
    wrong += arrays[index].out != arrays[index].expected ? 1 : 0;
}

}  // namespace

void test_support::try_operations(std::uint64_t seed, runtime::ClockKind clock,
                                  std::size_t operations) {
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const std::string config = random_config(random);
  INFO(config);
  const Sim sim(config);
  std::uint32_t members = 0;
  for (const auto& host : sim.plan().hosts) members += host.threads;
  const auto topology = groups::topology_of(sim.plan(), groups::participants_of(sim.plan()));
  std::vector<Drawn> drawn;
  for (std::size_t i = 0; i < operations; ++i) {
    drawn.push_back(draw(random, members));
    draw_algorithm(random, drawn.back(), topology);
  }
  std::uint64_t wrong = 0;
  runtime::Mutex mutex;
  const auto result =
      sim.run([&](paths::Thread& thread) { run_all(thread, drawn, seed, wrong, mutex); }, clock);
  CHECK(result.failures == std::vector<std::string>());
  CHECK(result.broke == "");
  CHECK(wrong == 0);
}
