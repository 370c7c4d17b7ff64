// SPDX-License-Identifier: Apache-2.0
// collectives/expressions.hpp — sums as trees of who contributed, each known by a number.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collectives/topology.hpp"

namespace collectives {

/// Equal expressions have equal numbers, so that comparing them costs nothing.
class Expressions {
 public:
  using Id = std::uint32_t;
  static constexpr Id undefined = 0;

  Id leaf(Rank rank) { return numbered(std::uint64_t{rank} << 32); }
  Id sum(Id left, Id right) { return numbered(std::uint64_t{left} << 32 | right); }
  /// The contributors from left to right.
  std::vector<Rank> leaves(Id id) const;
  /// What `sequential` makes of those participants up to a position: members of a group from the
  /// left, then groups, level by level.
  Id canonical(const Topology& topology, std::size_t positions);

 private:
  // A leaf has its rank on the left and nothing on the right; no sum has nothing on its right.
  Id numbered(std::uint64_t key);
  Id canonical(const Topology& topology, std::size_t positions, std::size_t level,
               std::size_t group);

  std::vector<std::uint64_t> keys_{0};
  std::unordered_map<std::uint64_t, Id> numbers_;
};

}  // namespace collectives
