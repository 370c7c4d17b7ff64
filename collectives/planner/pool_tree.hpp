// SPDX-License-Identifier: Apache-2.0
// collectives/planner/pool_tree.hpp — nested groups of close hosts (pools), by bandwidth or as
// declared.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "collectives/planner/pair_costs.hpp"

namespace planning {

/// A set of hosts, and its division into smaller pools.
struct Pool {
  std::vector<Rank> hosts;  ///< members of the pool, in rank order
  /// Parts in the order of their first hosts. There are at least two parts, or none if the pool is
  /// not divided.
  std::vector<Pool> parts;
  /// Bandwidth class at which the pool is divided into `parts`, or into single hosts if `parts` is
  /// empty. 0 if the pool is declared, or not divided by bandwidth.
  double threshold = 0;
  std::string reason;  ///< text for people that states why these hosts form a pool
};

/// Returns classes of similar bandwidths, in ascending order. A class is identified by its smallest
/// bandwidth. The class contains the bandwidths up to 1.1 times its smallest bandwidth. The paper
/// identifies a class by its largest bandwidth. With the rule of the paper, hosts of one site with
/// 81.86 and 85.19 Mbit/s would be separated.
/// Paper: Gupta and Vadhiyar 2007, §5.1.
std::vector<double> bandwidth_classes(const PairCosts& costs);

/// Divides hosts into pools by bandwidth. A pool is divided at the lowest bandwidth class that
/// gives several parts. The parts are divided at higher classes. To make a part, the function finds
/// the two hosts with the fastest link among the hosts that are in no part yet. The part begins
/// with one of these two. Then the function repeatedly adds the host that has the largest mean
/// bandwidth to the members of the part. It stops when the largest mean bandwidth is below the
/// class. The bandwidth of a pair of hosts is the bandwidth of its slower direction.
///
/// Why: The paper compares that mean with the average over all remaining hosts, not with the class.
///      The rule of the paper would add every host, and cannot produce the tree of the paper's
///      figure 2.
Pool pools_by_bandwidth(const PairCosts& costs);

/// Returns the pool of all hosts, divided into the declared clusters. The planner `min3` uses this
/// pool by default.
/// Why: If bandwidths differ at random, pools by bandwidth would contain sites inside other sites.
///      The hosts of such a pool would wait until one of these hosts gets data, although several
///      hosts could get data at the same time.
Pool declared_pools(const PairCosts& costs);

/// Returns a pool as text, for example "((A0 A1) ((B0) (C0 C1)))". `names` has the name of each
/// rank.
std::string text(const Pool& pool, std::span<const std::string> names);
/// Returns one line per pool with the reason for the pool. Inner pools are indented.
std::string lines(const Pool& pool, std::span<const std::string> names);

}  // namespace planning
