// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/topology.hpp — hierarchy of groups: which participants are close to each
// other.
#pragma once
#include <span>
#include <vector>

#include "collectives/schedule/block.hpp"

namespace collectives {

/// A hierarchy of groups of participants. Each participant has a path: the numbers of the groups
/// that contain it, outermost first, for example site, local network, machine. The outermost
/// groups are clusters. All paths have the same length.
///
/// A level at which all participants share one group is dropped, unless it is the cluster level
/// and has groups below. The remaining levels form a tree. Each group is a slice of one list: the
/// participants sorted by path and then by rank. `canonical` sums are folded in the order of this
/// list.
///
/// Thread-safe: immutable after construction.
/// Paper: Karonis et al. 2002.
class Topology {
 public:
  using Path = std::vector<std::uint32_t>;
  /// Throws: std::invalid_argument if there are no participants or paths differ in length.
  explicit Topology(const std::vector<Path>& paths);
  /// Returns a topology of clusters of these sizes. The first cluster has the lowest ranks, the
  /// second cluster the next ranks, and so on. If there is only one cluster, the topology has no
  /// groups.
  static Topology clustered(const std::vector<std::size_t>& sizes);

  Rank size() const { return static_cast<Rank>(order_.size()); }
  /// Returns the number of levels of groups. The level with one group of all participants and the
  /// level of single participants do not count.
  std::size_t depth() const { return levels_.size() - 2; }
  /// All participants, sorted by path and then by rank.
  std::span<const Rank> order() const { return order_; }
  std::size_t position(Rank rank) const { return positions_[rank]; }
  bool is_in_order() const;  ///< whether every group is a range of consecutive ranks, in order

  /// Returns the number of groups at a level. Level 0 is one group of all participants. Levels 1 to
  /// depth() are the levels of the hierarchy. At level depth() + 1 each participant is a group of
  /// its own.
  std::size_t groups(std::size_t level) const { return levels_[level].begins.size() - 1; }
  std::size_t group_of(std::size_t level, Rank rank) const {
    return levels_[level].groups[positions_[rank]];
  }
  std::span<const Rank> members(std::size_t level, std::size_t group) const;
  /// Numbers of the groups of the level `below` that lie inside one group: first, first + 1, ...,
  /// last - 1.
  struct Inner {
    std::size_t first, last;
  };
  Inner inner(std::size_t level, std::size_t group, std::size_t below) const;

  /// Number of clusters; 1 if there are no groups.
  std::size_t clusters() const { return groups(cluster_level()); }
  std::size_t cluster_of(Rank rank) const { return group_of(cluster_level(), rank); }
  std::span<const Rank> cluster(std::size_t number) const {
    return members(cluster_level(), number);
  }
  /// Returns the index of `rank` within its cluster.
  std::size_t index_in_cluster(Rank rank) const {
    const std::size_t level = cluster_level();
    return positions_[rank] - levels_[level].begins[levels_[level].groups[positions_[rank]]];
  }

 private:
  struct Level {
    // Position in order() at which each group begins; the last entry is the end of the last group.
    std::vector<std::size_t> begins;
    std::vector<std::size_t> groups;  // number of the group of each position in order()
  };
  std::size_t cluster_level() const { return depth() > 0 ? 1 : 0; }
  void add_level(const std::vector<Path>& paths, std::size_t length);

  std::vector<Rank> order_;
  std::vector<std::size_t> positions_;
  std::vector<Level> levels_;
};

}  // namespace collectives
