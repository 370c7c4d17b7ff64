// SPDX-License-Identifier: Apache-2.0
// collectives/planner/pool_tree.hpp — nested pools of close hosts, by bandwidth or as declared.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "collectives/planner/pair_costs.hpp"

namespace planning {

/// A set of hosts, and its division into pools at the next level.
struct Pool {
  std::vector<Rank> hosts;  ///< in rank order
  /// Parts in the order of their first hosts; empty (single hosts) or at least two.
  std::vector<Pool> parts;
  double threshold = 0;  ///< bandwidth of the division; 0 = declared or not divided
  std::string reason;    ///< explanation for people: why this is a pool
};

/// Returns classes of similar bandwidths, ascending. A new class begins above 1.1 times the
/// smallest bandwidth of the class below. A class is identified by its smallest bandwidth. With the
/// largest one, as in the paper, hosts of one site with 81.86 and 85.19 Mbit/s would be separated.
/// Paper: Gupta and Vadhiyar 2007, §5.1.
std::vector<double> bandwidth_classes(const PairCosts& costs);

/// Divides hosts into pools by bandwidth. The lowest class that divides a pool is used; higher
/// classes divide its parts. A pool starts with an end of the fastest link. It then adds the host
/// with the largest mean bandwidth to its members, until that mean is below the class. The slower
/// direction of a pair counts.
///
/// Why: The paper's average over all remaining hosts would add every host and cannot produce the
///      tree of the paper's figure 2.
Pool pools_by_bandwidth(const PairCosts& costs);

/// Returns one pool for each declared cluster. This is the default: if bandwidths differ at random,
/// pools by bandwidth nest sites. A pool then waits for one host to bring in data that several
/// hosts could.
Pool declared_pools(const PairCosts& costs);

/// Returns for example "((A0 A1) ((B0) (C0 C1)))"; `names` are by rank.
std::string text(const Pool& pool, std::span<const std::string> names);
/// Returns one line per pool with its reason; inner pools are indented.
std::string lines(const Pool& pool, std::span<const std::string> names);

}  // namespace planning
