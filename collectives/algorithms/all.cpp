// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/all.cpp — list of algorithms, one line each.
#include "collectives/algorithms/all.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/near_match.hpp"
#include "collectives/algorithms/alltoall.hpp"
#include "collectives/algorithms/barriers.hpp"
#include "collectives/algorithms/clusters.hpp"
#include "collectives/algorithms/composites.hpp"
#include "collectives/algorithms/exchanges.hpp"
#include "collectives/algorithms/farfirst.hpp"
#include "collectives/algorithms/grid_allgathers.hpp"
#include "collectives/algorithms/matsuda.hpp"
#include "collectives/algorithms/recursive_doubling.hpp"
#include "collectives/algorithms/scans.hpp"
#include "collectives/algorithms/stretched.hpp"
#include "collectives/algorithms/tree_algorithms.hpp"
#include "collectives/algorithms/two_tier.hpp"
#include "collectives/algorithms/van_de_geijn.hpp"

namespace collectives {

const std::vector<Algorithm>& all_algorithms() {
  static const std::vector<Algorithm> all{
      tree_algorithm(),
      multilevel_algorithm(),
      tournament_algorithm(),
      recursive_doubling_algorithm(),
      van_de_geijn_algorithm(),
      farfirst_algorithm(),
      two_tier_algorithm(),
      modified_van_de_geijn_algorithm(),
      modified_rabenseifner_algorithm(),
      stretched_algorithm(),
      clusters_algorithm(),
      rabenseifner_algorithm(),
      ring_algorithm(),
      direct_algorithm(),
      bruck_algorithm(),
      doubling_algorithm(),
      halving_algorithm(),
      pairwise_algorithm(),
      bruck_alltoall_algorithm(),
      clusters_alltoall_algorithm(),
      chain_scan_algorithm(),
      clusters_scan_algorithm(),
      dissemination_algorithm(),
      ring_barrier_algorithm(),
      gather_operate_algorithm(),
      gather_broadcast_algorithm(),
      gather_scatter_algorithm(),
      mpich_algorithm(),
      spreading_algorithm(),
      magpie_algorithm(),
      mpich_g2_algorithm(),
  };
  return all;
}

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm& algorithm : all_algorithms())
    if (algorithm.name == name) return &algorithm;
  return nullptr;
}

const Algorithm& algorithm_named(std::string_view name) {
  if (const Algorithm* const found = find_algorithm(name)) return *found;
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : all_algorithms()) names.push_back(algorithm.name);
  throw std::invalid_argument(base::not_one_of(name, names));
}

std::pair<std::string, std::string> split_at_colon(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  return {std::string(text.substr(0, colon)),
          std::string(text.substr(std::min(colon + 1, text.size())))};
}

}  // namespace collectives
