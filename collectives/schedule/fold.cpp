// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/fold.cpp — reduction group by group, one level after the other.
#include "collectives/schedule/fold.hpp"

namespace collectives {

Block fold_by_groups(Steps& steps, const Topology& topology, std::span<const Rank> members,
                     std::span<const Block> operands, Block into, Range scratch,
                     std::size_t level) {
  if (operands.size() == 1) return operands.front();
  const Block apart{{Storage::folded, static_cast<std::uint32_t>(level)}, scratch};
  Block sum;
  for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    const std::size_t group = topology.group_of(level, members[begin]);
    while (end < members.size() && topology.group_of(level, members[end]) == group) ++end;
    const Block next = fold_by_groups(steps, topology, members.subspan(begin, end - begin),
                                      operands.subspan(begin, end - begin),
                                      begin == 0 ? into : apart, scratch, level + 1);
    if (begin == 0) {
      sum = next;
      continue;
    }
    steps.reduce(into, sum, next);
    sum = into;
  }
  return sum;
}

}  // namespace collectives
