// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/expressions.hpp — numbered expression trees that describe how contributions
// were summed.
#pragma once
#include "collectives/schedule/numbering.hpp"
#include "collectives/schedule/topology.hpp"

namespace collectives {

/// Assigns a number to each expression. Equal expressions have equal numbers, so that a comparison
/// takes constant time.
class Expressions {
 public:
  using Id = std::uint32_t;
  static constexpr Id undefined = 0;

  Expressions() { numbers_.number(nothing); }

  Id leaf(Rank rank) { return numbers_.number((std::uint64_t{rank} + 1) << 32); }
  Id sum(Id left, Id right) { return numbers_.number(std::uint64_t{left} << 32 | right); }
  /// Returns the contributors whose values the expression sums, from left to right.
  std::vector<Rank> leaves(Id id) const;
  /// Returns the canonical expression of the first `positions` participants in the topology's
  /// order. It sums the members of each group from the left, then the groups, level by level. The
  /// algorithm `sequential` computes the same expression.
  Id canonical(const Topology& topology, std::size_t positions);

 private:
  Id canonical(const Topology& topology, std::size_t positions, std::size_t level,
               std::size_t group);

  // The key of a leaf has rank + 1 in its upper 32 bits, and 0 in its lower 32 bits. The lower 32
  // bits of a sum's key are the number of its right operand, which is never 0.
  static constexpr std::uint64_t nothing = 0;
  Numbering numbers_;
};

}  // namespace collectives
