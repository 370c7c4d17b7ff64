// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/min3_test.cpp — complete plans of Min³, and properties of all its
// plans.
#include "collectives/planner/min3.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>

#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/planner/networks.hpp"
#include "tests/collectives/planner/plans.hpp"

using namespace planning;
using namespace test_support;
using namespace std::chrono_literals;
using collectives::Counts;

namespace {

constexpr PortModel full_duplex{};
constexpr PortModel half_duplex{.is_half_duplex = true};

Plan planned(const Pool& pools, const PairCosts& costs, const Counts& counts,
             const PortModel& model) {
  return min3(pools, costs, counts, pieces_of(counts, 1), model);
}

std::vector<std::string> rows(const Plan& plan) {
  const std::vector<std::string> names = five_names();
  std::vector<std::string> rows;
  for (const Transfer& transfer : plan.transfers) rows.push_back(text(plan, transfer, names));
  return rows;
}

/// Makes a plan by the definition of Min³: before each transfer, it searches all candidates.
void plan_slowly(const Pool& pool, std::vector<Rank> holders, PortState& state,
                 std::vector<Transfer>& transfers) {
  std::vector<std::vector<Rank>> parts;
  for (const Pool& part : pool.parts) parts.push_back(part.hosts);
  if (parts.empty())
    for (const Rank host : pool.hosts) parts.push_back({host});
  const auto has = [](const std::vector<Rank>& hosts, Rank host) {
    return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
  };
  std::vector<std::vector<Rank>> sources;
  for (const Rank holder : holders) sources.push_back({holder});
  while (true) {
    Nanos least = Nanos::max();
    Transfer next;
    for (std::uint32_t piece = 0; piece < holders.size(); ++piece)
      for (const std::vector<Rank>& part : parts) {
        if (std::any_of(sources[piece].begin(), sources[piece].end(),
                        [&](Rank host) { return has(part, host); }))
          continue;
        for (const Rank from : sources[piece])
          for (const Rank to : part)
            if (const Nanos end = state.end(piece, from, to); end < least) {
              least = end;
              next = {from, to, piece};
            }
      }
    if (least == Nanos::max()) break;
    transfers.push_back(state.commit(next.piece, next.from, next.to));
    sources[next.piece].push_back(next.to);
  }
  for (const Pool& part : pool.parts) {
    if (part.hosts.size() == 1) continue;
    std::vector<Rank> inside;
    for (const std::vector<Rank>& hosts : sources)
      inside.push_back(*std::find_if(hosts.begin(), hosts.end(),
                                     [&](Rank host) { return has(part.hosts, host); }));
    plan_slowly(part, inside, state, transfers);
  }
}

Counts random_counts(std::mt19937_64& chance, std::size_t hosts) {
  if (below(chance, 2) == 0) return Counts::each(1 + below(chance, 1 << 18), hosts);
  std::vector<collectives::Count> counts;
  for (std::size_t host = 0; host < hosts; ++host)
    counts.push_back(below(chance, 5) == 0 ? 0 : below(chance, 1 << 18));
  counts[0] = 1;
  return Counts::listed(counts);
}

}  // namespace

TEST_CASE("min3: plan of five hosts at three sites with full duplex") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  const Plan plan =
      planned(pools_by_bandwidth(costs), costs, Counts::each(1'000'000, 5), full_duplex);
  CHECK(rows(plan) ==
        std::vector<std::string>{"A0>B0 A0 0-1050",    "A1>C0 A1 0-1050",    "B0>A0 B0 0-1050",
                                 "C0>A1 C0 0-1050",    "C1>A0 C1 1050-2100", "A0>A1 A0 1050-1060",
                                 "A0>A1 B0 1060-1070", "A1>A0 A1 2100-2110", "A0>A1 C1 2100-2110",
                                 "A1>A0 C0 2110-2120", "B0>C1 B0 10-120",    "B0>C0 A0 1050-1160",
                                 "C0>B0 A1 1050-1160", "C0>B0 C0 1160-1270", "C1>B0 C1 1270-1380",
                                 "C0>C1 A0 1170-1180", "C0>C1 A1 1180-1190", "C0>C1 C0 1190-1200",
                                 "C1>C0 B0 1280-1290", "C1>C0 C1 1290-1300"});
  CHECK(plan.time() == 2120ms);
}

TEST_CASE("min3: plan of five hosts at three sites with half duplex") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  const Plan plan =
      planned(pools_by_bandwidth(costs), costs, Counts::each(1'000'000, 5), half_duplex);
  CHECK(rows(plan) ==
        std::vector<std::string>{"A0>B0 A0 0-1050",    "A1>C0 A1 0-1050",    "C1>A0 C1 10-1060",
                                 "B0>A1 B0 1050-2100", "C0>A0 C0 1060-2110", "A0>A1 A0 2110-2120",
                                 "A1>A0 A1 2120-2130", "A1>A0 B0 2130-2140", "A0>A1 C0 2140-2150",
                                 "A0>A1 C1 2150-2160", "B0>C1 A0 1060-1170", "C0>B0 A1 1070-1180",
                                 "B0>C0 B0 1180-1290", "C1>B0 C1 1190-1300", "C0>B0 C0 1300-1410",
                                 "C1>C0 A0 1310-1320", "C0>C1 A1 1320-1330", "C0>C1 B0 1330-1340",
                                 "C0>C1 C0 1340-1350", "C1>C0 C1 1350-1360"});
  CHECK(plan.time() == 2160ms);
}

TEST_CASE("min3: time of five hosts in their declared clusters") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  const Plan plan = planned(declared_pools(costs), costs, Counts::each(1'000'000, 5), full_duplex);
  CHECK(plan.time() == 2130ms);
}

TEST_CASE("ports: two blocks in a cluster take 4 units by one tree and 2 by two trees") {
  // The example of Gupta and Vadhiyar 2007, figure 1: each transfer takes one unit of time.
  const PairCosts costs = PairCosts::of(one_site(4, 8));
  const auto units = [&](const Counts& counts, const std::vector<Transfer>& edges) {
    const std::vector<Piece> pieces = pieces_of(counts, 1, counts.largest());
    PortState state(costs, pieces, full_duplex);
    Nanos last{0};
    for (const Transfer& edge : edges)
      last = std::max(last, state.commit(edge.piece, edge.from, edge.to).end);
    return last;
  };
  CHECK(units(Counts::listed({2, 0, 0, 0}),
              {{0, 2, 0}, {0, 1, 0}, {2, 3, 0}, {0, 2, 1}, {0, 1, 1}, {2, 3, 1}}) == 4us);
  CHECK(units(Counts::listed({1, 1, 0, 0}),
              {{0, 2, 0}, {1, 3, 1}, {0, 1, 0}, {2, 3, 0}, {1, 0, 1}, {3, 2, 1}}) == 2us);
  // The greedy planner breaks ties by rank. Therefore both hosts first send their blocks to each
  // other.
  const Counts both = Counts::listed({1, 1, 0, 0});
  CHECK(planned(declared_pools(costs), costs, both, full_duplex).time() == 3us);
}

TEST_CASE("min3: on random networks each host gets each block once through free ports") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 chance(seed);
    const pricing::Network network = network_of(random_sites(chance, 1 + below(chance, 5), 6), 0);
    const PairCosts costs = PairCosts::of(network, base::Nanos(below(chance, 100'000)));
    const Counts counts = random_counts(chance, costs.hosts());
    for (const bool is_declared : {false, true})
      for (const PortModel& model : {full_duplex, half_duplex}) {
        const Pool pools = is_declared ? declared_pools(costs) : pools_by_bandwidth(costs);
        const Plan plan = planned(pools, costs, counts, model);
        INFO("seed " << seed << (is_declared ? " declared" : "")
                     << (model.is_half_duplex ? " half duplex" : ""));
        REQUIRE(mistake_of(plan, costs, model) == "");
        REQUIRE(plan.transfers.size() == plan.pieces.size() * (costs.hosts() - 1));
        if (is_declared) REQUIRE(copies_into_cluster(plan, costs) <= 1);
      }
  }
}

TEST_CASE("min3: incremental knowledge of end times gives the plan of a full search") {
  for (std::uint64_t seed = 1000; seed < 1150; ++seed) {
    std::mt19937_64 chance(seed);
    const pricing::Network network =
        network_of(random_sites(chance, 1 + below(chance, 4), 4), 1 + below(chance, 4));
    const PairCosts costs = PairCosts::of(network, base::Nanos(below(chance, 100'000)));
    const Counts counts = random_counts(chance, costs.hosts());
    const std::vector<Piece> pieces = pieces_of(counts, 1, 1 + below(chance, 2));
    PortModel model{.is_half_duplex = below(chance, 2) == 1};
    if (!model.is_half_duplex && below(chance, 2) == 1)
      model = {.are_apart = true, .receiving_across = 1 + below(chance, 4), .counts_slots = true};
    const Pool pools = below(chance, 2) == 0 ? declared_pools(costs) : pools_by_bandwidth(costs);
    PortState state(costs, pieces, model);
    std::vector<Transfer> slowly;
    std::vector<Rank> holders;
    for (const Piece& piece : pieces) holders.push_back(piece.owner);
    plan_slowly(pools, holders, state, slowly);
    INFO("seed " << seed);
    REQUIRE(min3(pools, costs, counts, pieces, model).transfers == slowly);
  }
}

TEST_CASE("min3: a plan of one host has no transfer and pools must match the network") {
  const PairCosts one = PairCosts::of(one_site(1, 100));
  CHECK(planned(declared_pools(one), one, Counts::each(5, 1), full_duplex).transfers.empty());
  const PairCosts five = PairCosts::of(network_of(five_hosts(), 0));
  CHECK_THROWS_WITH(planned(declared_pools(one), five, Counts::each(5, 5), full_duplex),
                    "pools have 1 hosts, and the network 5");
}

TEST_CASE("min3: time of planning", "[.times]") {
  for (const auto& [sites, hosts] : {std::pair{3, 20}, {4, 40}, {5, 80}, {1, 80}}) {
    std::mt19937_64 chance(7);
    Sites all = sites_of({}, {}, {});
    for (int from = 0; from < sites; ++from) {
      all.hosts.push_back(static_cast<std::size_t>(hosts / sites + (from < hosts % sites)));
      for (int to = 0; to < sites; ++to)
        all.between.push_back(from == to ? pricing::Side{50us, 100e6}
                                         : pricing::Side{30ms, between(chance, 1e6, 20e6)});
    }
    const PairCosts costs = PairCosts::of(network_of(all, 0), three_sites_overhead);
    const Counts counts = Counts::each(1 << 18, costs.hosts());
    for (const PortModel& model : {full_duplex, half_duplex}) {
      const auto begin = std::chrono::steady_clock::now();  // tidy: real time
      const Pool pools = pools_by_bandwidth(costs);
      const auto parted = std::chrono::steady_clock::now();  // tidy: real time
      const Plan plan = planned(pools, costs, counts, model);
      const auto end = std::chrono::steady_clock::now();  // tidy: real time
      const auto milliseconds = [](auto span) {
        return std::chrono::duration<double, std::milli>(span).count();
      };
      std::cout << hosts << " hosts at " << sites << " sites, "
                << (model.is_half_duplex ? "half" : "full") << " duplex: pools "
                << milliseconds(parted - begin) << " ms, plan " << milliseconds(end - parted)
                << " ms\n";
      CHECK(plan.transfers.size() == std::size_t(hosts) * std::size_t(hosts - 1));
    }
  }
}
