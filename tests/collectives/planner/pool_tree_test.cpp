// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/pool_tree_test.cpp — pools of near hosts, found by bandwidths or by
// declared clusters.
#include "collectives/planner/pool_tree.hpp"

#include <catch2/catch.hpp>

#include "tests/collectives/planner/networks.hpp"

using namespace planning;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> site_names(const std::vector<std::pair<std::string, std::size_t>>& sites) {
  std::vector<std::string> names;
  for (const auto& [site, hosts] : sites)
    for (std::size_t host = 0; host < hosts; ++host) names.push_back(site + std::to_string(host));
  return names;
}

/// Returns hosts of separate clusters with these bandwidths in Mbit/s.
PairCosts matrix(const std::vector<std::vector<double>>& megabits) {
  std::vector<std::vector<Pair>> pairs;
  for (const std::vector<double>& row : megabits) {
    pairs.emplace_back();
    for (const double rate : row) pairs.back().push_back({0ns, rate * 1e6});
  }
  const auto topology = std::make_shared<const collectives::Topology>(
      collectives::Topology::clustered({megabits.size()}));
  return {topology, pairs, std::vector<double>(megabits.size(), 1e9)};
}

}  // namespace

TEST_CASE("pools: three classes of bandwidth make a tree of three levels") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  CHECK(bandwidth_classes(costs) == std::vector<double>{8e6, 80e6, 800e6});
  const Pool pools = pools_by_bandwidth(costs);
  const std::vector<std::string> names = five_names();
  CHECK(text(pools, names) == "((A0 A1) ((B0) (C0 C1)))");
  CHECK(lines(pools, names) ==
        "A0 A1 B0 C0 C1: all hosts; parted at 80 Mbit/s\n  A0 A1: at least 80 Mbit/s on average to "
        "the hosts before\n  B0 C0 C1: at least 80 Mbit/s on average to the hosts before; parted "
        "at 800 Mbit/s\n    B0: alone: below 800 Mbit/s to all others\n    C0 C1: at least 800 "
        "Mbit/s on average to the hosts before\n");
}

TEST_CASE("pools: declared clusters are the parts of one pool at any bandwidth") {
  const Pool pools = declared_pools(PairCosts::of(network_of(five_hosts(), 0)));
  CHECK(text(pools, five_names()) == "((A0 A1) (B0) (C0 C1))");
  CHECK(lines(pools, five_names()) ==
        "A0 A1 B0 C0 C1: all hosts\n"
        "  A0 A1: a declared cluster\n"
        "  B0: a declared cluster\n"
        "  C0 C1: a declared cluster\n");
  const PairCosts one = PairCosts::of(one_site(3, 100));
  CHECK(text(declared_pools(one), five_names()) == "(A0 A1 B0)");
}

TEST_CASE("pools: A and B at 100 joined by 10 and C by 3 give the pools of figure 2 of the paper") {
  Sites sites = sites_of({3, 2, 2}, {0ns, 100e6}, {10ms, 3e6});
  sites.between[1].bits_per_second = sites.between[3].bits_per_second = 10e6;
  const PairCosts costs = PairCosts::of(network_of(sites, 0));
  CHECK(text(pools_by_bandwidth(costs), site_names({{"A", 3}, {"B", 2}, {"C", 2}})) ==
        "(((A0 A1 A2) (B0 B1)) (C0 C1))");
}

TEST_CASE("pools: the three sites of the paper keep their hosts together and Europe joins first") {
  const Pool pools = pools_by_bandwidth(PairCosts::of(network_of(three_sites(), 8)));
  CHECK(text(pools, site_names({{"t", 8}, {"u", 4}, {"n", 8}})) ==
        "((t0 t1 t2 t3 t4 t5 t6 t7) ((u0 u1 u2 u3) (n0 n1 n2 n3 n4 n5 n6 n7)))");
}

TEST_CASE("pools: bandwidths up to 1.1 times the smallest of a class belong to it") {
  const auto classes_of = [](double second, double third) {
    return bandwidth_classes(matrix({{0, 100, second}, {100, 0, third}, {second, third, 0}}));
  };
  CHECK(classes_of(105, 109) == std::vector<double>{100e6});
  CHECK(classes_of(105, 111) == std::vector<double>{100e6, 111e6});
  // The bandwidth 119 begins a new class, because it exceeds 1.1 times 100, the smallest bandwidth
  // of the class. The limit does not depend on 109, the other bandwidth of the class: 119 is below
  // 1.1 times 109.
  CHECK(classes_of(109, 119) == std::vector<double>{100e6, 119e6});
  // All links between the three hosts are in one class of bandwidths, so the hosts stay one pool.
  CHECK(text(pools_by_bandwidth(matrix({{0, 109, 100}, {109, 0, 100}, {100, 100, 0}})),
             five_names()) == "(A0 A1 B0)");
  CHECK(text(pools_by_bandwidth(matrix({{0, 111, 100}, {111, 0, 100}, {100, 100, 0}})),
             five_names()) == "((A0 A1) (B0))");
}

TEST_CASE("pools: the slower direction of a pair counts") {
  // Hosts 0 and 1 send to host 2 at 100 Mbit/s, but host 2 sends to them at 1 Mbit/s.
  const PairCosts costs = matrix({{0, 100, 100}, {100, 0, 100}, {1, 1, 0}});
  CHECK(text(pools_by_bandwidth(costs), five_names()) == "((A0 A1) (B0))");
}

TEST_CASE("pools: equally near hosts form one pool and one host forms one") {
  CHECK(text(pools_by_bandwidth(matrix({{0, 9, 9}, {9, 0, 9}, {9, 9, 0}})), five_names()) ==
        "(A0 A1 B0)");
  CHECK(text(pools_by_bandwidth(matrix({{0}})), five_names()) == "(A0)");
}

TEST_CASE("pair costs: all mistakes of a matrix are reported") {
  const auto topology =
      std::make_shared<const collectives::Topology>(collectives::Topology::clustered({2}));
  const Pair good{1ms, 1e6};
  CHECK_THROWS_WITH(PairCosts(topology, {{good, {}}, {{-1ns, 1e6}}}, {1e6}),
                    "expected a rate for each of 2 hosts, found 1; from 0 to 1 there is no "
                    "bandwidth; row 1: expected 2 hosts, found 1; from 1 to 0 the latency is "
                    "negative");
  CHECK_THROWS_WITH(PairCosts(topology, {{good, good}}, {1e6, 1e6}),
                    "expected a row for each of 2 hosts, found 1");
}

TEST_CASE("pair costs: streams and striping and slots are taken from the network") {
  pricing::Network network = network_of(five_hosts(), 4);
  CHECK(PairCosts::of(network).pair(0, 2).bits_per_second == 8e6);
  CHECK(PairCosts::of(network).slots(1) == 4);
  CHECK(PairCosts::of(network).takes(0, 2, 1'000'000) == 1s);
  CHECK(PairCosts::of(network, 5us).sending(0, 1'000'000) == 10ms + 5us);
  network.striping = 2;
  CHECK(PairCosts::of(network).pair(0, 2).bits_per_second == 16e6);
  CHECK(PairCosts::of(network).slots(1) == 2);
  network.striping = 16;
  CHECK(PairCosts::of(network).pair(0, 2).bits_per_second == 32e6);
  CHECK(PairCosts::of(network).slots(1) == 1);
}
