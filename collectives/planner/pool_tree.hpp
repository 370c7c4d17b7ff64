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
  /// Parts in the order of their first hosts: at least two, or none if the pool is not divided.
  std::vector<Pool> parts;
  double threshold = 0;  ///< bandwidth of the division; 0 = declared or not divided
  std::string reason;    ///< explanation for people: why this is a pool
};

/// Returns classes of similar bandwidths, ascending. A new class begins above 1.1 times the
/// smallest bandwidth of the class below. A class is identified by its smallest bandwidth. With the
/// largest one, as in the paper, hosts of one site with 81.86 and 85.19 Mbit/s would be separated.
/// Paper: Gupta and Vadhiyar 2007, §5.1.
std::vector<double> bandwidth_classes(const PairCosts& costs);

/// Divides hosts into pools by bandwidth. A pool is divided at the lowest bandwidth class that
/// gives several parts; higher classes divide the parts. A part starts with one end of the fastest
/// link. It grows by the host with the largest mean bandwidth to its members, until that mean is
/// below the class. The bandwidth of a pair is that of its slower direction.
///
/// Why: The paper's average over all remaining hosts would add every host and cannot produce the
///      tree of the paper's figure 2.
Pool pools_by_bandwidth(const PairCosts& costs);

/// Returns one pool for each declared cluster. This is the default. If bandwidths differ at
/// random, pools by bandwidth would nest sites in each other. A pool would then wait until one
/// host brings in data, although several hosts could.
Pool declared_pools(const PairCosts& costs);

/// Returns for example "((A0 A1) ((B0) (C0 C1)))"; `names` are by rank.
std::string text(const Pool& pool, std::span<const std::string> names);
/// Returns one line per pool with its reason; inner pools are indented.
std::string lines(const Pool& pool, std::span<const std::string> names);

}  // namespace planning
