// SPDX-License-Identifier: Apache-2.0
// planning/min3_plus.cpp — which ways there are.
#include "planning/min3_plus.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace planning {
namespace {

constexpr std::size_t segments_tried[] = {1, 2, 4, 8};
constexpr std::size_t at_once_tried[] = {1, 4, 8};

/// Whether they part the hosts alike.
bool are_alike(const Pool& left, const Pool& right) {
  if (left.hosts != right.hosts || left.parts.size() != right.parts.size()) return false;
  for (std::size_t part = 0; part < left.parts.size(); ++part)
    if (!are_alike(left.parts[part], right.parts[part])) return false;
  return true;
}

std::vector<Pool> different_pools(const PairCosts& costs) {
  std::vector<Pool> pools{declared_pools(costs)};
  Pool by_bandwidth = pools_by_bandwidth(costs);
  if (!are_alike(pools.front(), by_bandwidth)) pools.push_back(std::move(by_bandwidth));
  return pools;
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
                                 Bytes element_bytes, Nanos overhead, std::size_t transfers_most) {
  const std::size_t hosts = network.topology->size();
  if (counts.blocks() != hosts)
    throw std::invalid_argument(
        fmt::format("expected blocks of {} participants, found {}", hosts, counts.blocks()));
  const PairCosts costs = PairCosts::of(network, overhead);
  const std::vector<Pool> pools = different_pools(costs);
  std::vector<Contender> all;
  for (std::size_t kind = 0; kind < pools.size(); ++kind)
    for (const std::size_t segments : segments_tried)
      for (const std::size_t at_once : at_once_tried) {
        const std::size_t pieces = pieces_of(counts, element_bytes, segments, true).size();
        if (segments > 1 && pieces * (hosts - 1) > transfers_most) continue;
        if (at_once > 1 && network.clusters() == 1) continue;
        const std::string name =
            fmt::format("min3_plus, pools {}, {} segments, {} at once",
                        kind == 0 ? "declared" : "by bandwidth", segments, at_once);
        all.push_back(contender_of(
            min3_plus_plan(pools[kind], costs, counts, element_bytes, segments, at_once), name,
            min3_plus_execution(at_once, overhead)));
      }
  return all;
}

}  // namespace planning
