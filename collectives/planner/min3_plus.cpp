// SPDX-License-Identifier: Apache-2.0
// collectives/planner/min3_plus.cpp — plans that Min³+ tries.
#include "collectives/planner/min3_plus.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace planning {
namespace {

/// min3_plus() makes no plan with several segments that has more transfers than this. The limit
/// does not apply if the caller requests a number of segments.
constexpr std::size_t transfers_most = 1 << 14;

/// Returns the values to try for a parameter: only `asked`, or `all` if `asked` is 0 (no value
/// requested).
std::vector<std::size_t> tried(std::size_t asked, std::vector<std::size_t> all) {
  return asked > 0 ? std::vector{asked} : all;
}

/// Whether both pools divide the hosts in the same way.
bool are_alike(const Pool& left, const Pool& right) {
  if (left.hosts != right.hosts || left.parts.size() != right.parts.size()) return false;
  for (std::size_t part = 0; part < left.parts.size(); ++part)
    if (!are_alike(left.parts[part], right.parts[part])) return false;
  return true;
}

struct NamedPools {
  std::string name;
  Pool pools;
};

std::vector<NamedPools> different_pools(const PairCosts& costs, const std::string& asked) {
  std::vector<NamedPools> all;
  if (asked != "bandwidth") all.push_back({"declared", declared_pools(costs)});
  if (asked == "declared") return all;
  Pool by_bandwidth = pools_by_bandwidth(costs);
  if (all.empty() || !are_alike(all.front().pools, by_bandwidth))
    all.push_back({"bandwidth", std::move(by_bandwidth)});
  return all;
}

}  // namespace

Plan min3_plus_plan(const Pool& pools, const PairCosts& costs, const collectives::Counts& counts,
                    Bytes element_bytes, std::size_t segments, std::size_t at_once) {
  Plan plan = min3(pools, costs, counts, pieces_of(counts, element_bytes, segments, true),
                   {.are_apart = true, .receiving_across = at_once, .counts_slots = true});
  sort_by_start(plan.transfers);
  return plan;
}

pricing::Execution min3_plus_execution(std::size_t at_once, Nanos overhead) {
  pricing::Execution execution = one_port(overhead);
  execution.ports.are_apart = true;
  execution.ports.receiving_across = at_once;
  return execution;
}

std::vector<Contender> min3_plus(const pricing::Network& network, const collectives::Counts& counts,
                                 Bytes element_bytes, Nanos overhead,
                                 const Min3PlusLimits& limits) {
  const std::size_t hosts = network.topology->size();
  if (counts.blocks() != hosts)
    throw std::invalid_argument(
        fmt::format("expected blocks of {} participants, found {}", hosts, counts.blocks()));
  const PairCosts costs = PairCosts::of(network, overhead);
  std::vector<Contender> all;
  for (const auto& [name, pools] : different_pools(costs, limits.pools))
    for (const std::size_t segments : tried(limits.segments, {1, 2, 4, 8}))
      for (const std::size_t at_once : tried(limits.at_once, {1, 4, 8})) {
        const std::size_t pieces = pieces_of(counts, element_bytes, segments, true).size();
        const bool is_asked = segments == 1 || limits.segments > 0;
        if (!is_asked && pieces * (hosts - 1) > transfers_most) continue;
        if (limits.at_once == 0 && at_once > 1 && network.clusters() == 1) continue;
        all.push_back(contender_of(
            min3_plus_plan(pools, costs, counts, element_bytes, segments, at_once),
            fmt::format("min3_plus:pools={},segments={},at_once={}", name, segments, at_once),
            min3_plus_execution(at_once, overhead)));
      }
  return all;
}

}  // namespace planning
