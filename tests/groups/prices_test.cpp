// SPDX-License-Identifier: Apache-2.0
// tests/groups/prices_test.cpp — times of groups on the virtual clock compared with predicted
// times.
#include <catch2/catch.hpp>
#include <random>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/evaluator.hpp"
#include "groups/group.hpp"
#include "groups/selection/network_of.hpp"
#include "tests/support/sim.hpp"

namespace {

using collectives::Collective;
using test_support::Sim;
using namespace std::chrono_literals;

constexpr base::Nanos begin = 100ms;

/// Returns the time of one operation. Each host has one thread, and all threads begin at the same
/// time.
base::Nanos time_of(const Sim& sim, const groups::Call& asked, std::uint64_t count) {
  base::Nanos end{0};
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    std::vector<std::uint8_t> in(count * world.size()), out(count * world.size());
    groups::Call call = asked;
    const bool is_broadcast = call.collective == Collective::broadcast;
    if (!is_broadcast) call.in = std::as_bytes(std::span(in));
    call.out = std::as_writable_bytes(std::span(out));
    call.counts = {count};
    const auto task = collectives::make_spec(
        call.collective, groups::network_of(sim.plan()).topology, count, call.root);
    call.in = call.in.first(is_broadcast ? 0 : in_range(task, world.rank()).count);
    const bool is_scan = call.collective == Collective::exscan;
    call.out = call.out.first(is_scan ? count : out_range(task, world.rank()).count);
    thread.sleep_for(begin - thread.now());
    world.run(call);
    end = std::max(end, thread.now());
  });
  return end - begin;
}

/// Returns random costs of hosts, as a line of a config. If `share_cores`, hosts share one to three
/// cores, and some have a time to wake up.
std::string random_costs(std::mt19937_64& random, std::size_t clusters, bool share_cores) {
  const auto frames = [&] {
    return fmt::format("send: {{1B: {}us, 64KiB: {}us}}, receive: {}us, window: {}", random() % 9,
                       9 + random() % 90, random() % 90,
                       random() % 2 == 0 ? "unlimited" : "128KiB");
  };
  std::string costs = fmt::format("costs: {{{}, fold_ns_per_byte: {}, copy_ns_per_byte: 0.{}",
                                  frames(), random() % 3, random() % 3);
  if (clusters > 1)
    costs +=
        fmt::format(", links: [{{from: c0, to: c1, {}}}, {{inside: c1, {}}}]", frames(), frames());
  if (share_cores)
    costs += fmt::format(", cores: {}, wake_up: {}us", 1 + random() % 3, random() % 2 * 50);
  return costs + "}\n";
}

/// Compares the times of random operations on random networks with the predicted times.
void compare(std::uint64_t seed, bool has_ports, bool has_costs = false, bool share_cores = false) {
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::string others;
  int unequal = 0, near = 0, all = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t clusters = 1 + random() % 3;
    std::string config = "clusters:\n";
    for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
      const std::string uplinks[] = {
          "uplink: switch, ", "", fmt::format("gateway: {{host: g{}, rate: 300Mbit}}, ", cluster)};
      config += fmt::format(
          "  c{}: {{hosts: {}, {}{}network: {{latency: 50us, bandwidth: 100Mbit, receiving: "
          "{}}}}}\n",
          cluster, 1 + random() % 5, uplinks[random() % 3],
          has_costs && random() % 2 == 0 ? "speed: 0.5, " : "", random() % 4 > 0);
    }
    if (has_costs) config += random_costs(random, clusters, share_cores);
    if (clusters > 1) config += "links: {all: {latency: 10ms, bandwidth: 1Gbit}}\n";
    const Sim sim(config + "lanes: {inbox: 4GiB}\n");
    const pricing::Network network = groups::network_of(sim.plan());
    const auto& algorithms = collectives::all_algorithms();
    const collectives::Algorithm& algorithm = algorithms[random() % algorithms.size()];
    groups::Call call;
    call.collective = algorithm.collectives[random() % algorithm.collectives.size()];
    if (is_reduction(call.collective)) call.operation = "max";
    const std::uint64_t count = std::uint64_t{1} << random() % 18;
    call.root = static_cast<std::uint32_t>(
        has_root(call.collective) ? random() % network.topology->size() : 0);
    const auto task = collectives::make_spec(call.collective, network.topology, count, call.root);
    const auto parameters = algorithm.read("");
    if (network.topology->size() < 2 || !algorithm.why_not(task, parameters).empty()) continue;
    if (is_reduction(call.collective) && call.collective != Collective::barrier &&
        algorithm.order(task, parameters) > collectives::Order::by_block)
      continue;
    call.algorithm = algorithm.name;
    if (has_ports)
      call.ports = {.receiving = 1 + random() % 3,
                    .are_apart = random() % 2 == 0,
                    .are_grants_carried = random() % 2 == 0};
    const base::Nanos price =
        pricing::price(algorithm, task, parameters, 1, network, {.ports = call.ports}).time;
    const base::Nanos time = time_of(sim, call, count);
    ++all;
    if (time == price) continue;
    ++unequal;
    others += fmt::format("{}{} {} of {} from {}: {}, not {}\n", config, algorithm.name,
                          name_of(call.collective), count, call.root, time.count(), price.count());
    // With exits, different times are accepted, because messages that reach an exit at the same
    // time can pass the exit in either order.
    const bool has_exits = std::any_of(network.exits.begin(), network.exits.end(),
                                       [](const auto& exit) { return exit.has_value(); });
    const double ratio = static_cast<double>(time.count()) / static_cast<double>(price.count());
    if (has_exits && std::abs(ratio - 1) < 0.01) ++near;
  }
  INFO(others);
  CHECK(all > 200);
  CHECK(unequal == near);
  CHECK(near <= all / 100);
}

}  // namespace

TEST_CASE("groups: on the virtual clock operations take the predicted time",
          "[without_asan][without_tsan]") {
  compare(5, false);
}

TEST_CASE("groups: with costs of hosts operations take the predicted time on the virtual clock",
          "[without_asan][without_tsan]") {
  compare(8, false, true);
}

TEST_CASE("groups: on shared cores operations take the predicted time on the virtual clock",
          "[without_asan][without_tsan]") {
  compare(9, false, true, true);
}

TEST_CASE("groups: with ports messages arrive in the planned order and take the predicted time",
          "[without_asan][without_tsan]") {
  compare(6, true);
}

TEST_CASE("prices: a message crosses from the moment its link begins to carry it") {
  const Sim sim(
      "clusters: {a: {hosts: 3, uplink: switch}, b: {hosts: 1, uplink: switch}}\n"
      "links: {all: {latency: 1ms, bandwidth: 1Mbit}}\nlanes: {frame: unlimited}\n");
  const pricing::Network network = groups::network_of(sim.plan());
  const collectives::Algorithm& direct = collectives::algorithm_named("direct");
  const auto task = collectives::make_spec(Collective::allgather, network.topology, 12'500);
  const pricing::Price price =
      pricing::price(direct, task, direct.read(""), 1, network, {.lists_crossings = true});
  std::vector<std::pair<base::Nanos, base::Nanos>> crossings;
  for (const pricing::Crossing& one : price.crossings)
    if (one.to == 3) crossings.emplace_back(one.begin, one.end);
  std::sort(crossings.begin(), crossings.end());
  CHECK(crossings == std::vector<std::pair<base::Nanos, base::Nanos>>{
                         {0ms, 101ms}, {100ms, 201ms}, {200ms, 301ms}});
}
