// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/executed_plans_test.cpp — times of executed plans compared with the
// predicted times.
#include <algorithm>
#include <catch2/catch.hpp>
#include <tuple>

#include "collectives/planner/min3.hpp"
#include "tests/collectives/planner/networks.hpp"
#include "tests/collectives/planner/plans.hpp"

using namespace planning;
using namespace test_support;
using namespace std::chrono_literals;
using collectives::Counts;

namespace {

constexpr base::Nanos overhead = 50us;

std::shared_ptr<const Plan> plan_of(const PairCosts& costs, const Pool& pools, Bytes bytes,
                                    bool is_half_duplex) {
  const Counts counts = Counts::each(bytes, costs.hosts());
  return std::make_shared<const Plan>(
      min3(pools, costs, counts, pieces_of(counts, 1), {.is_half_duplex = is_half_duplex}));
}

base::Nanos executed(const std::shared_ptr<const Plan>& plan, const pricing::Network& network,
                     const pricing::Execution& execution) {
  const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                         plan->counts};
  return pricing::price(algorithm_of(plan, "planned", ""), task, {}, 1, network, execution).time;
}

}  // namespace

TEST_CASE("executed plans: five hosts take the predicted time if a path has streams for all") {
  for (const std::size_t streams : {0, 1}) {
    const pricing::Network network = network_of(five_hosts(), streams);
    const PairCosts costs = PairCosts::of(network);
    const auto total = [&](const Pool& pools, bool is_half_duplex) {
      return executed(plan_of(costs, pools, 1'000'000, is_half_duplex), network,
                      in_order(with_ports(0ns, is_half_duplex)));
    };
    CHECK(total(pools_by_bandwidth(costs), false) == 2120ms);
    CHECK(total(pools_by_bandwidth(costs), true) == 2160ms);
    // Two messages pass from A to C. With one stream, the second message waits for the first.
    CHECK(total(declared_pools(costs), false) == (streams == 0 ? 2130ms : 2160ms));
  }
}

TEST_CASE("executed plans: times at three sites by the number of streams per path") {
  struct Row {
    std::size_t streams;
    double full, half, declared;  // seconds
  };
  for (const Row& row :
       {Row{1, 14.933, 15.352, 14.099}, Row{2, 7.701, 8.120, 7.388}, Row{4, 4.110, 4.555, 4.033},
        Row{8, 3.990, 4.555, 3.828}, Row{16, 3.990, 4.555, 3.828}}) {
    const pricing::Network network = network_of(three_sites(), row.streams);
    const PairCosts costs = PairCosts::of(network, overhead);
    const auto check = [&](const Pool& pools, bool is_half_duplex, double seconds) {
      const auto plan = plan_of(costs, pools, 256 * 1024, is_half_duplex);
      const base::Nanos time =
          executed(plan, network, in_order(with_ports(overhead, is_half_duplex)));
      INFO(row.streams << " streams" << (is_half_duplex ? ", half duplex" : ""));
      CHECK(std::chrono::duration<double>(time).count() == Approx(seconds).margin(0.0006));
      // A plan's time may be wrong by rounding errors, so 1 us is tolerated.
      if (row.streams >= 8) CHECK(time - plan->time() < 1us);
    };
    check(pools_by_bandwidth(costs), false, row.full);
    check(pools_by_bandwidth(costs), true, row.half);
    check(declared_pools(costs), false, row.declared);
  }
}

TEST_CASE("executed plans: messages are on links between sites at the predicted times") {
  const pricing::Network network = network_of(five_hosts(), 0);
  const PairCosts costs = PairCosts::of(network);
  for (const bool is_half_duplex : {false, true}) {
    const auto plan = plan_of(costs, pools_by_bandwidth(costs), 1'000'000, is_half_duplex);
    pricing::Execution execution = in_order(with_ports(0ns, is_half_duplex));
    const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                           plan->counts};
    const auto crossings = [&] {
      return pricing::price(algorithm_of(plan, "planned", ""), task, {}, 1, network, execution)
          .crossings;
    };
    CHECK(crossings().empty());
    execution.lists_crossings = true;
    using Row = std::tuple<Rank, Rank, Nanos, Nanos>;
    std::vector<Row> found, predicted;
    for (const pricing::Crossing& one : crossings())
      found.emplace_back(one.from, one.to, one.begin, one.end);
    for (const Transfer& one : plan->transfers)
      if (costs.crosses(one.from, one.to))
        predicted.emplace_back(one.from, one.to, one.start, one.end);
    std::sort(found.begin(), found.end());
    std::sort(predicted.begin(), predicted.end());
    CHECK(found == predicted);
  }
}

TEST_CASE("executed plans: a block crosses into each site once") {
  const pricing::Network network = network_of(three_sites(), 8);
  const PairCosts costs = PairCosts::of(network, overhead);
  const auto plan = plan_of(costs, declared_pools(costs), 256 * 1024, false);
  const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                         plan->counts};
  const pricing::Price price =
      pricing::price(algorithm_of(plan, "planned", ""), task, {}, 1, network, {});
  CHECK(price.across.bytes == 10'485'760);
}

TEST_CASE("executed plans: random networks with streams for all take the predicted time") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 chance(seed);
    const pricing::Network network = network_of(random_sites(chance, 1 + below(chance, 5), 6), 0);
    const PairCosts costs = PairCosts::of(network, overhead);
    const bool is_half_duplex = below(chance, 2) == 1;
    const Pool pools = below(chance, 2) == 1 ? declared_pools(costs) : pools_by_bandwidth(costs);
    const auto plan = plan_of(costs, pools, 1 + below(chance, 1 << 18), is_half_duplex);
    const base::Nanos time =
        executed(plan, network, in_order(with_ports(overhead, is_half_duplex)));
    INFO("seed " << seed);
    // The link model rounds times up. Plans round times to the nearest nanosecond.
    REQUIRE(time >= plan->time());
    REQUIRE(time <= plan->time() + 1us);
  }
}
