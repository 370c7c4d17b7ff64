// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/generators_test.cpp — properties of every plan of every planner on any
// network.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "collectives/planner/planners.hpp"
#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/planner/networks.hpp"
#include "tests/collectives/planner/plans.hpp"

using namespace planning;
using namespace test_support;
using namespace std::chrono_literals;
using collectives::Counts;

namespace {

const std::vector<std::string> generators = {"min3:pools=declared",
                                             "min3:pools=bandwidth",
                                             "min3:pools=declared,ports=half",
                                             "min3:pools=bandwidth,ports=half",
                                             "min3:segments=3",
                                             "min3_plus:pools=declared,segments=2,at_once=4",
                                             "min3_plus:pools=bandwidth,segments=1,at_once=2",
                                             "mateescu:merging=by_end",
                                             "mateescu:merging=in_turn",
                                             "mateescu:ports=half",
                                             "clustered_sa:merging=by_end",
                                             "clustered_sa:merging=in_turn,segments=2",
                                             "clustered_sa:ports=half"};

/// Returns whether every plan of this planner sends each block into each other cluster exactly
/// once, whatever the bandwidths are.
bool crosses_once(const std::string& generator) {
  return generator.starts_with("clustered_sa") ||
         (generator.starts_with("min3") && generator.find("bandwidth") == generator.npos);
}

/// Returns the bytes that clusters must receive: for each cluster, the blocks of the hosts of all
/// other clusters.
Bytes least_across(const PairCosts& costs, const Counts& counts, Bytes element_bytes) {
  const collectives::Topology& topology = costs.topology();
  Bytes sum = 0;
  for (Rank rank = 0; rank < costs.hosts(); ++rank)
    sum += counts.block(rank).count * element_bytes * (topology.clusters() - 1);
  return sum;
}

/// Returns random counts. The counts are small, because the verifier checks each element.
Counts random_counts(std::mt19937_64& chance, std::size_t hosts) {
  if (below(chance, 2) == 0) return Counts::each(1 + below(chance, 4), hosts);
  std::vector<collectives::Count> counts{1};
  while (counts.size() < hosts) counts.push_back(below(chance, 5));
  return Counts::listed(counts);
}

/// Returns the mistake of the plan that this generator makes; "" = no mistake.
std::string wrong(const std::string& generator, const pricing::Network& network,
                  const Counts& counts, Bytes element_bytes) {
  const std::size_t colon = generator.find(':');
  const Planner& planner = *planner_named(generator.substr(0, colon));
  const collectives::CollectiveSpec task{collectives::Collective::allgather, network.topology,
                                         counts};
  Contender one =
      plan(planner, planner.read(generator.substr(colon + 1)), task, element_bytes, network);
  const PairCosts costs = PairCosts::of(network, three_sites_overhead);
  const PortModel model{.is_half_duplex = one.execution.ports.is_half_duplex};
  const bool is_plus = generator.starts_with("min3_plus");
  const std::string mistake =
      is_plus ? mistake_of(*one.plan, costs) : mistake_of(*one.plan, costs, model);
  if (!mistake.empty()) return mistake;
  if (one.plan->transfers.size() != one.plan->pieces.size() * (costs.hosts() - 1))
    return "not each piece to each other host";
  if (const auto verdict = verify(one.algorithm, task, {}); !verdict.holds())
    return verdict.mistake;
  for (const bool blocks : {false, true}) {  // price() throws if the plan cannot end
    one.execution.ports.blocks = blocks;
    const pricing::Price price =
        pricing::price(one.algorithm, task, {}, element_bytes, network, one.execution);
    if (crosses_once(generator) && price.across.bytes != least_across(costs, counts, element_bytes))
      return fmt::format("{} bytes cross", price.across.bytes);
  }
  return "";
}

void check(std::uint64_t first_seed, std::size_t networks) {
  for (std::uint64_t seed = first_seed; seed < first_seed + networks; ++seed) {
    std::mt19937_64 chance(seed);
    const std::size_t sites = 1 + below(chance, 5);
    const pricing::Network network = network_of(random_sites(chance, sites, 5), below(chance, 5));
    const Counts counts = random_counts(chance, network.topology->size());
    const Bytes element_bytes = 1 + below(chance, 1 << 16);
    for (const std::string& generator : generators) {
      INFO("seed " << seed << ' ' << generator);
      REQUIRE(wrong(generator, network, counts, element_bytes) == "");
    }
  }
}

}  // namespace

TEST_CASE(
    "generators: each plan is correct and ends with blocking sends and crosses no more than "
    "necessary") {
  check(0, 20);
}

TEST_CASE("generators: a thousand networks", "[.random]") { check(1000, 1000); }
