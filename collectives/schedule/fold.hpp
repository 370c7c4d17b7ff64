// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/fold.hpp — summing up operands from the left, or group by group.
#pragma once
#include <span>

#include "collectives/schedule/step.hpp"
#include "collectives/schedule/topology.hpp"

namespace collectives {

/// Folds the operands from the left into `into`, and says where the sum is: an only operand stays
/// where it is. `into` may be the first operand, none of the others.
inline Block fold(Steps& steps, std::span<const Block> operands, Block into) {
  if (operands.size() == 1) return operands.front();
  steps.reduce(into, operands[0], operands[1]);
  for (const Block& operand : operands.subspan(2)) steps.reduce(into, into, operand);
  return into;
}

/// Folds the operands of members, who stand in the topology's order, as its groups nest: those of
/// an innermost group from the left, then the groups of each level; that is what `canonical` means.
/// Sums of groups behind the first lie at `scratch` of `folded` buffers, one for each level.
Block fold_by_groups(Steps& steps, const Topology& topology, std::span<const Rank> members,
                     std::span<const Block> operands, Block into, Range scratch,
                     std::size_t level = 0);

}  // namespace collectives
