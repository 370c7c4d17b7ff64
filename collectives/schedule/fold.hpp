// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/fold.hpp — reductions of operands from the left or group by group.
#pragma once
#include <span>

#include "collectives/schedule/step.hpp"
#include "collectives/schedule/topology.hpp"

namespace collectives {

/// Folds the operands from the left into `into` and returns the block with the sum. If there is
/// only one operand, returns that operand and adds no step. `into` may be the first operand, but no
/// other operand.
inline Block fold(Steps& steps, std::span<const Block> operands, Block into) {
  if (operands.size() == 1) return operands.front();
  steps.reduce(into, operands[0], operands[1]);
  for (const Block& operand : operands.subspan(2)) steps.reduce(into, into, operand);
  return into;
}

/// Folds operands in the `canonical` order: first the operands of each innermost group from the
/// left, then the sums of the groups, level by level. The sum of a group that is not the first is
/// kept in the `folded` buffer of its level, at the range `scratch`.
/// Requires: members are in topology order.
Block fold_by_groups(Steps& steps, const Topology& topology, std::span<const Rank> members,
                     std::span<const Block> operands, Block into, Range scratch,
                     std::size_t level = 0);

}  // namespace collectives
