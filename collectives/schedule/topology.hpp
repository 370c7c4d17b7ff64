// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/topology.hpp — which participants are near each other, level by level.
#pragma once
#include <span>
#include <vector>

#include "collectives/schedule/block.hpp"

namespace collectives {

/// The participants of a group and, for each, the path of the numbers of the groups that it is in,
/// outermost first (Karonis et al. 2002: sites, local networks, machines). The outermost are
/// clusters. All of a group have paths of one length. A level at which all are in one group is
/// dropped, unless it is the clusters' and has groups below. The rest is a tree whose groups are
/// slices of one list: the participants in the order of their paths, then of their ranks. Sums that
/// are `canonical` are folded in that order.
///
/// Sharing: never changes; anybody may read it.
class Topology {
 public:
  using Path = std::vector<std::uint32_t>;
  /// Throws: std::invalid_argument for no participant, or for paths of different lengths.
  explicit Topology(const std::vector<Path>& paths);
  /// No group but the whole.
  static Topology flat(std::size_t participants);
  /// Clusters of so many hosts each, ranks in order.
  static Topology clustered(const std::vector<std::size_t>& sizes);
  /// Those participants alone, in that order; levels at which they are in one group are gone.
  Topology restricted(std::span<const Rank> members) const;

  Rank size() const { return static_cast<Rank>(order_.size()); }
  /// Levels of groups, without the whole and without the participants themselves.
  std::size_t depth() const { return levels_.size() - 2; }
  /// All participants by path, then rank.
  std::span<const Rank> order() const { return order_; }
  std::size_t position(Rank rank) const { return positions_[rank]; }
  bool is_in_order() const;  ///< every group is a range of ranks, in order

  /// Level 0 has the whole, levels 1 to depth() its groups, level depth() + 1 each participant.
  std::size_t groups(std::size_t level) const { return levels_[level].begins.size() - 1; }
  std::size_t group_of(std::size_t level, Rank rank) const {
    return levels_[level].groups[positions_[rank]];
  }
  std::span<const Rank> members(std::size_t level, std::size_t group) const;
  /// The groups of a level `below` that it consists of, from the first to before the last.
  struct Inner {
    std::size_t first, last;
  };
  Inner inner(std::size_t level, std::size_t group, std::size_t below) const;

  /// Groups that share the first number of their paths; one also without any groups.
  std::size_t clusters() const { return groups(cluster_level()); }
  std::size_t cluster_of(Rank rank) const { return group_of(cluster_level(), rank); }
  std::span<const Rank> cluster(std::size_t number) const {
    return members(cluster_level(), number);
  }
  /// Where in its cluster it stands.
  std::size_t index_in_cluster(Rank rank) const {
    const std::size_t level = cluster_level();
    return positions_[rank] - levels_[level].begins[levels_[level].groups[positions_[rank]]];
  }

 private:
  struct Level {
    std::vector<std::size_t> begins;  // of the groups, and where the last one ends
    std::vector<std::size_t> groups;  // by position
  };
  std::size_t cluster_level() const { return depth() > 0 ? 1 : 0; }
  void add_level(const std::vector<Path>& paths, std::size_t length);

  std::vector<Path> paths_;
  std::vector<Rank> order_;
  std::vector<std::size_t> positions_;
  std::vector<Level> levels_;
};

}  // namespace collectives
