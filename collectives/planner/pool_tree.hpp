// SPDX-License-Identifier: Apache-2.0
// collectives/planner/pool_tree.hpp — which hosts are near each other, level by level, by bandwidth
// or by word.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "collectives/planner/pair_costs.hpp"

namespace planning {

/// Hosts, and the pools that they fall into at the next level; none: into single hosts.
struct Pool {
  std::vector<Rank> hosts;  ///< in order of rank
  std::vector<Pool> parts;  ///< in order of their first hosts; none or at least two
  double threshold = 0;     ///< bandwidth that parted it; 0: it was declared, or is not parted
  std::string reason;       ///< why it is a pool, in words
};

/// Bandwidths that count as alike, ascending: a new class begins above 1.1 times the smallest of
/// the one before. A class is known by its smallest: by its largest, as Gupta and Vadhiyar 2007,
/// §5.1, have it, hosts of one site with 81.86 and 85.19 Mbit/s fall apart.
std::vector<double> bandwidth_classes(const PairCosts& costs);

/// Pools by bandwidth. From the lowest class on the first one that parts a pool does; parts are
/// parted by higher ones. A pool begins with an end of the fastest link, and takes in the host with
/// the largest mean bandwidth to those that it has, until that is below the class. Of a pair of
/// hosts the slower direction counts.
///
/// Why: the paper's average over all that remain takes in everybody, and cannot make the tree of
///      its own figure 2.
Pool pools_by_bandwidth(const PairCosts& costs);

/// Each declared cluster is a pool. The default: where bandwidths differ at random those by
/// bandwidth nest sites, and a pool then waits for one host to get in what several could.
Pool declared_pools(const PairCosts& costs);

/// "((A0 A1) ((B0) (C0 C1)))"; names by rank.
std::string text(const Pool& pool, std::span<const std::string> names);
/// A line for each pool, inner ones indented, with the reason.
std::string lines(const Pool& pool, std::span<const std::string> names);

}  // namespace planning
