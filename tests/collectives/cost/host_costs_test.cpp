// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/host_costs_test.cpp — predicted times with costs of hosts: known values,
// and a plain implementation of the same rules.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/evaluator.hpp"
#include "tests/collectives/cost/plain_evaluator.hpp"

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

namespace {

constexpr Bytes segment = 100;

tuning::CostTable always(base::Nanos time) { return tuning::CostTable({{1, time}}); }

/// Returns a network whose hosts send a segment in 4 us over a latency of 10 us. A host spends 1 us
/// to send a segment and 2 us to receive it.
Network network_of(const std::vector<std::size_t>& clusters, Side wide = {10us, 200e6}) {
  const auto topology = std::make_shared<const Topology>(Topology::clustered(clusters));
  Network network = uniform_network(topology, {10us, 200e6}, wide);
  for (tuning::LinkModel& side : network.receiving) side = {};
  const auto costs = std::make_shared<const tuning::FrameCosts>(
      tuning::FrameCosts{.send = always(1us), .receive = always(2us), .window_bytes = unlimited});
  network.frame_costs.assign(network.links.size(), costs);
  return network;
}

/// Returns the predicted time in microseconds of a number of segments along a tree.
double time_of(Collective collective, const std::string& shape, Count segments,
               const Network& network) {
  const Algorithm& algorithm = algorithm_named("tree");
  const CollectiveSpec task = make_spec(collective, network.topology, segments * segment);
  const auto parameters = algorithm.read(fmt::format("shape={},segment={}", shape, segment));
  return static_cast<double>(price(algorithm, task, parameters, 1, network).time.count()) / 1000;
}

const std::map<std::string, std::string> shapes{
    {"flat", "flat"},          {"chain", "chain"},       {"binary", "kary,arity=2"},
    {"4-ary", "kary,arity=4"}, {"binomial", "binomial"}, {"4-nomial", "knomial,arity=4"}};

using Sizes = std::vector<std::pair<std::size_t, Count>>;  // numbers of hosts and of segments

void check(
    Collective collective, const Sizes& sizes,
    const std::map<std::string, std::vector<double>>& expected,
    const std::function<void(Network&)>& change = [](Network&) {}) {
  for (const auto& [shape, times] : expected) {
    std::vector<double> found;
    for (const auto& [hosts, segments] : sizes) {
      Network network = network_of({hosts});
      change(network);
      found.push_back(time_of(collective, shapes.at(shape), segments, network));
    }
    INFO(shape);
    CHECK(found == times);
  }
}

}  // namespace

TEST_CASE("evaluator: broadcasts with costs of hosts take the known times") {
  check(Collective::broadcast, {{2, 1}, {4, 1}, {8, 1}, {4, 4}, {8, 4}, {8, 16}},
        {{"flat", {17, 25, 41, 61, 125, 461}},
         {"chain", {17, 51, 119, 63, 131, 179}},
         {"binary", {17, 34, 51, 58, 75, 171}},
         {"4-ary", {17, 25, 42, 61, 90, 282}},
         {"binomial", {17, 34, 51, 58, 87, 231}},
         {"4-nomial", {17, 25, 42, 61, 90, 282}}});
}

TEST_CASE("evaluator: reductions with costs of hosts and of folds take the known times") {
  const Sizes sizes{{4, 1}, {8, 1}, {8, 4}};
  const auto folds = [](Network& network) { network.fold_bytes_per_second = 300e6; };
  check(Collective::reduce, sizes,
        {{"flat", {24, 36, 99}},
         {"chain", {54, 126, 138}},
         {"binary", {37, 56, 71}},
         {"binomial", {36, 54, 66}}},
        folds);
  check(Collective::reduce, sizes,
        {{"flat", {26, 42, 126}},
         {"chain", {54, 126, 138}},
         {"binary", {37, 56, 76}},
         {"binomial", {36, 54, 66}}},
        [&](Network& network) {
          folds(network);
          for (tuning::LinkModel& side : network.receiving) side = {0us, 200e6};
        });
  check(Collective::allreduce, sizes,
        {{"flat", {49, 77, 161}},
         {"chain", {105, 245, 257}},
         {"binary", {71, 107, 131}},
         {"binomial", {70, 105, 141}}},
        folds);
}

TEST_CASE("evaluator: links pass the heads of frames on while hosts prepare the next frames") {
  const auto broadcast = Collective::broadcast;
  CHECK(time_of(broadcast, "flat", 1, network_of({2, 2}, {1010us, 800e6})) == 1025);
  CHECK(time_of(broadcast, "chain", 4, network_of({2, 2}, {1010us, 16e6})) == 1247);
}

TEST_CASE("evaluator: a window delays the preparation of frames, and a port is never idle") {
  Network network = network_of({2});
  const auto costs = std::make_shared<const tuning::FrameCosts>(
      tuning::FrameCosts{.send = always(1us), .receive = always(2us), .window_bytes = 250});
  network.frame_costs.assign(1, costs);
  for (Count segments = 1; segments <= 8; ++segments)
    CHECK(time_of(Collective::broadcast, "flat", segments, network) ==
          17 + 4 * static_cast<double>(segments - 1));
  // The plain implementation also shows when the sender has prepared each segment. The plain
  // implementation sends one byte per ns, so its times are the times of this network divided by 40.
  const Algorithm& algorithm = algorithm_named("tree");
  const CollectiveSpec task = make_spec(Collective::broadcast, network.topology, 8 * segment);
  const auto programs = programs_of(algorithm, task, algorithm.read("shape=flat,segment=100"));
  const test_support::PlainResult plain = test_support::evaluate_plainly(
      programs, {.latency = 250ns,
                 .costs = {.send = always(25ns), .receive = always(50ns), .window_bytes = 250},
                 .speeds = {1, 1}});
  std::vector<std::int64_t> prepared;
  for (const base::Nanos time : plain.prepared[0]) prepared.push_back(time.count() / 25);
  CHECK(prepared == std::vector<std::int64_t>{1, 2, 6, 10, 14, 18, 22, 26});
  CHECK(plain.time == 45 * 25ns);
}

TEST_CASE("evaluator: frames cost by their size, and a host's speed divides folds and copies") {
  const tuning::CostTable table({{1, 100ns}, {1024, 1123ns}, {2048, 2147ns}});
  CHECK(table.at(0) == 100ns);
  CHECK(table.at(1) == 100ns);
  CHECK(table.at(512) == 611ns);
  CHECK(table.at(2048) == 2147ns);
  CHECK(table.at(4096) == 4195ns);
  Network network = network_of({2});
  network.fold_bytes_per_second = 300e6;
  const double slow = time_of(Collective::reduce, "flat", 1, network);
  network.speeds = {4, 1};
  CHECK(slow - time_of(Collective::reduce, "flat", 1, network) == 0.75);
}

TEST_CASE("evaluator: an exit spends its time for each frame that it passes on") {
  // Hosts 0 and 1 share a cluster whose exit is host 0; host 2 is its own exit.
  Network network = network_of({2, 1}, {1010us, 0});
  network.exits = {0, 2};
  const double with = time_of(Collective::gather, "flat", 1, network);
  for (auto& costs : network.frame_costs)
    costs = std::make_shared<const tuning::FrameCosts>(
        tuning::FrameCosts{.send = always(0us), .receive = always(0us), .window_bytes = unlimited});
  const double without = time_of(Collective::gather, "flat", 1, network);
  CHECK(with - without == 3);
  Network chain = network_of({2, 1}, {1010us, 0});
  chain.exits = {1, 2};
  // Times in us. From host 0 to host 1, which is the exit: 17. From host 1 over the link to host 2:
  // 1 + 1000 + 2.
  CHECK(time_of(Collective::broadcast, "chain", 1, chain) == 17 + 1003);
  chain.exits = {0, 2};
  // Times in us. From host 0 to host 1: 17. From host 1 to its exit, host 0: the head reaches the
  // exit after 1 + 10, the exit needs 3, and the tail follows 4 later. From the exit over the link
  // to host 2: 1000 + 2.
  CHECK(time_of(Collective::broadcast, "chain", 1, chain) == 17 + 1 + 10 + 3 + 4 + 1000 + 2);
}

TEST_CASE("evaluator: random schedules take the times of a plain implementation") {
  std::mt19937_64 random(7);
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t hosts = 2 + random() % 7;
    const auto topology = std::make_shared<const Topology>(Topology::clustered({hosts}));
    // If all times are multiples of 50, many events occur at the same time.
    const std::uint64_t unit = random() % 2 == 0 ? 1 : 50;
    const auto chance = [&](std::uint64_t most) {
      return base::Nanos(random() % (most / unit + 1) * unit);
    };
    Network network = uniform_network(topology, {chance(500), 8e9}, {0ns, 8e9});
    for (tuning::LinkModel& side : network.receiving) side = {};
    tuning::FrameCosts costs;
    const base::Nanos first = chance(100);
    costs.send = tuning::CostTable({{1, first}, {64, first + chance(300)}});
    costs.receive = always(chance(200));
    costs.window_bytes = random() % 2 == 0 ? unlimited : 1 + random() % 300;
    network.frame_costs.assign(1, std::make_shared<const tuning::FrameCosts>(costs));
    if (random() % 2 == 0) network.fold_bytes_per_second = 3e9;
    if (random() % 2 == 0) network.copy_bytes_per_second = 4e9;
    for (std::size_t host = 0; host < hosts; ++host)
      network.speeds.push_back(1 + static_cast<double>(random() % 3));
    const auto& algorithms = all_algorithms();
    const Algorithm& algorithm = algorithms[random() % algorithms.size()];
    const Collective collective = algorithm.collectives[random() % algorithm.collectives.size()];
    const CollectiveSpec task =
        make_spec(collective, topology, (1 + random() % (300 / unit)) * unit);
    const Parameters parameters = algorithm.read("");
    if (!algorithm.why_not(task, parameters).empty()) continue;
    ++compared;
    const auto programs = programs_of(algorithm, task, parameters);
    const base::Nanos plain = test_support::evaluate_plainly(
                                  programs, {.latency = network.outgoing[0].at(0ns).latency,
                                             .costs = costs,
                                             .fold_bytes_per_second = network.fold_bytes_per_second,
                                             .copy_bytes_per_second = network.copy_bytes_per_second,
                                             .speeds = network.speeds})
                                  .time;
    INFO("round " << round << ": " << algorithm.name << ' ' << name_of(collective) << " of "
                  << hosts);
    CHECK(evaluate(programs, 1, network, {.window = 1 << 20})->time == plain);
  }
  CHECK(compared > 250);
}
