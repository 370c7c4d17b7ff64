// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/merged_trees_test.cpp — one broadcast tree for each block, merged into
// one plan of an allgather.
#include "collectives/planner/merged_trees.hpp"

#include <catch2/catch.hpp>

#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/planner/networks.hpp"
#include "tests/collectives/planner/plans.hpp"

using namespace planning;
using namespace test_support;
using namespace std::chrono_literals;
using collectives::Counts;

namespace {

pricing::Price executed(const Plan& plan, const pricing::Network& network,
                        const pricing::Execution& execution) {
  const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                         plan.counts};
  const auto algorithm = algorithm_of(std::make_shared<const Plan>(plan), "planned", "");
  return pricing::price(algorithm, task, {}, 1, network, execution);
}

struct Trees {
  std::string name;
  MakeTree make;
};
const std::vector<Trees>& all_trees() {
  static const std::vector<Trees> all{{"mateescu", mateescu_tree}, {"clusteredSA", clustered_tree}};
  return all;
}

}  // namespace

TEST_CASE(
    "merged trees: two trees merged by end take 2 units and one tree for both blocks takes 4") {
  // The example of Gupta and Vadhiyar 2007, figure 1: each transfer takes one unit of time.
  const PairCosts costs = PairCosts::of(one_site(4, 8));
  const auto units = [&](const Counts& counts, std::size_t segments,
                         const std::vector<std::vector<std::vector<Rank>>>& children) {
    const MakeTree make = [&](const PairCosts&, Rank root, Bytes) {
      return BroadcastTree{root, children[root]};
    };
    return merged_trees(make, Merging::by_end, costs, counts, pieces_of(counts, 1, segments))
        .time();
  };
  CHECK(units(Counts::listed({2, 0, 0, 0}), 2, {{{2, 1}, {}, {3}, {}}}) == 4us);
  CHECK(units(Counts::listed({1, 1, 0, 0}), 1, {{{2, 1}, {}, {3}, {}}, {{}, {3, 0}, {}, {2}}}) ==
        2us);
}

TEST_CASE(
    "merged trees: in turn blocks follow each other and by end the block that ends first goes "
    "first") {
  const PairCosts costs = PairCosts::of(one_site(3, 8));
  const Counts counts = Counts::each(1, 3);
  const MakeTree chain = [](const PairCosts&, Rank root, Bytes) {
    BroadcastTree tree{root, std::vector<std::vector<Rank>>(3)};
    tree.children[root] = {(root + 1) % 3};
    tree.children[(root + 1) % 3] = {(root + 2) % 3};
    return tree;
  };
  const auto order = [&](Merging merging) {
    std::string all;
    const Plan plan = merged_trees(chain, merging, costs, counts, pieces_of(counts, 1));
    for (const Transfer& transfer : plan.transfers)
      all += text(plan, transfer, five_names()) + "; ";
    return all;
  };
  CHECK(order(Merging::in_turn) ==
        "A0>A1 A0 0-0.001; A1>B0 A0 0.001-0.002; A1>B0 A1 0.002-0.003; B0>A0 A1 0.003-0.004; "
        "B0>A0 B0 0.004-0.005; A0>A1 B0 0.005-0.006; ");
  CHECK(order(Merging::by_end) ==
        "A0>A1 A0 0-0.001; A1>B0 A1 0-0.001; B0>A0 B0 0-0.001; A1>B0 A0 0.001-0.002; "
        "B0>A0 A1 0.001-0.002; A0>A1 B0 0.001-0.002; ");
}

TEST_CASE("merged trees: plans on random networks gather all blocks through free ports") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 chance(seed);
    const PairCosts costs = PairCosts::of(
        network_of(random_sites(chance, 1 + below(chance, 4), 5), 0), three_sites_overhead);
    std::vector<collectives::Count> lengths{1};
    while (lengths.size() < costs.hosts())
      lengths.push_back(below(chance, 4) * below(chance, 9999));
    const Counts counts = Counts::listed(lengths);
    const PortModel model{.is_half_duplex = below(chance, 2) == 1};
    for (const Trees& trees : all_trees())
      for (const Merging merging : {Merging::in_turn, Merging::by_end}) {
        INFO("seed " << seed << ' ' << trees.name);
        const Plan plan =
            merged_trees(trees.make, merging, costs, counts, pieces_of(counts, 1), model);
        REQUIRE(mistake_of(plan, costs, model) == "");
        if (trees.name == "clusteredSA") REQUIRE(copies_into_cluster(plan, costs) <= 1);
        const collectives::CollectiveSpec task{
            collectives::Collective::allgather,
            std::make_shared<const collectives::Topology>(costs.topology()), counts};
        const auto algorithm = algorithm_of(std::make_shared<const Plan>(plan), "planned", "");
        REQUIRE(verify(algorithm, task, {}).mistake == "");
      }
  }
}

TEST_CASE("merged trees: times of five hosts at three sites with trees of shortest paths") {
  const pricing::Network network = network_of(five_hosts(), 0);
  const PairCosts costs = PairCosts::of(network);
  const Counts counts = Counts::each(1'000'000, 5);
  const Plan plan =
      merged_trees(mateescu_tree, Merging::by_end, costs, counts, pieces_of(counts, 1));
  CHECK(plan.time() == 4230ms);
  CHECK(executed(plan, network, in_order(with_ports(0ns))).time == 4230ms);
}

TEST_CASE("merged trees: times at three sites by the number of streams per path") {
  struct Row {
    std::size_t streams;
    double mateescu, clustered;  // seconds
  };
  for (const Row& row : {Row{1, 118.717, 25.869}, Row{2, 59.783, 25.869}, Row{4, 30.782, 25.869},
                         Row{8, 22.078, 25.869}, Row{16, 22.078, 25.869}}) {
    const pricing::Network network = network_of(three_sites(), row.streams);
    const PairCosts costs = PairCosts::of(network, three_sites_overhead);
    const Counts counts = Counts::each(256 * 1024, costs.hosts());
    const auto check = [&](const MakeTree& make, double seconds, Bytes across) {
      const Plan plan = merged_trees(make, Merging::by_end, costs, counts, pieces_of(counts, 1));
      const pricing::Price price =
          executed(plan, network, in_order(with_ports(three_sites_overhead)));
      INFO(row.streams << " streams");
      CHECK(std::chrono::duration<double>(price.time).count() == Approx(seconds).margin(0.0006));
      CHECK(price.across.bytes == across);
    };
    check(mateescu_tree, row.mateescu, 58'720'256);
    check(clustered_tree, row.clustered, 10'485'760);
  }
  const PairCosts costs = PairCosts::of(network_of(three_sites(), 8), three_sites_overhead);
  const Counts counts = Counts::each(256 * 1024, costs.hosts());
  const Plan half = merged_trees(clustered_tree, Merging::by_end, costs, counts,
                                 pieces_of(counts, 1), {.is_half_duplex = true});
  CHECK(std::chrono::duration<double>(half.time()).count() == Approx(36.477).margin(0.0006));
}
