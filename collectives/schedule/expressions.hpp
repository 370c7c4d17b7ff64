// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/expressions.hpp — sums as trees of who contributed, each known by a number.
#pragma once
#include "collectives/schedule/numbering.hpp"
#include "collectives/schedule/topology.hpp"

namespace collectives {

/// Equal expressions have equal numbers, so that comparing them costs nothing.
class Expressions {
 public:
  using Id = std::uint32_t;
  static constexpr Id undefined = 0;

  Expressions() { numbers_.number(nothing); }

  Id leaf(Rank rank) { return numbers_.number((std::uint64_t{rank} + 1) << 32); }
  Id sum(Id left, Id right) { return numbers_.number(std::uint64_t{left} << 32 | right); }
  /// The contributors from left to right.
  std::vector<Rank> leaves(Id id) const;
  /// What `sequential` makes of those participants up to a position: members of a group from the
  /// left, then groups, level by level.
  Id canonical(const Topology& topology, std::size_t positions);
  std::size_t size() const { return numbers_.size(); }

 private:
  Id canonical(const Topology& topology, std::size_t positions, std::size_t level,
               std::size_t group);

  // A leaf has its rank and one on the left and nothing on the right; no sum has nothing there.
  static constexpr std::uint64_t nothing = 0;
  Numbering numbers_;
};

}  // namespace collectives
