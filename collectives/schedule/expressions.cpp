// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/expressions.cpp — leaves and canonical expressions.
#include "collectives/schedule/expressions.hpp"

namespace collectives {

std::vector<Rank> Expressions::leaves(Id id) const {
  std::vector<Rank> ranks;
  std::vector<Id> open{id};
  while (!open.empty()) {
    const std::uint64_t key = numbers_.key(open.back());
    open.pop_back();
    const auto right = static_cast<Id>(key);
    const auto left = static_cast<Id>(key >> 32);
    if (right == 0) {
      ranks.push_back(left - 1);
    } else {
      open.push_back(right);
      open.push_back(left);
    }
  }
  return ranks;
}

Expressions::Id Expressions::canonical(const Topology& topology, std::size_t positions) {
  return canonical(topology, positions, 0, 0);
}

Expressions::Id Expressions::canonical(const Topology& topology, std::size_t positions,
                                       std::size_t level, std::size_t group) {
  const Rank first = topology.members(level, group).front();
  if (topology.position(first) >= positions) return undefined;
  if (level == topology.depth() + 1) return leaf(first);
  const Topology::Inner inner = topology.inner(level, group, level + 1);
  Id total = undefined;
  for (std::size_t next = inner.first; next < inner.last; ++next) {
    const Id one = canonical(topology, positions, level + 1, next);
    if (one != undefined) total = total == undefined ? one : sum(total, one);
  }
  return total;
}

}  // namespace collectives
