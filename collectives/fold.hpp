// SPDX-License-Identifier: Apache-2.0
// collectives/fold.hpp — summing up operands from the left.
#pragma once
#include <span>

#include "collectives/step.hpp"

namespace collectives {

/// Folds the operands from the left into `into`, and says where the sum is: an only operand stays
/// where it is. `into` may be the first operand, none of the others.
inline Block fold(Steps& steps, std::span<const Block> operands, Block into) {
  if (operands.size() == 1) return operands.front();
  steps.reduce(into, operands[0], operands[1]);
  for (const Block& operand : operands.subspan(2)) steps.reduce(into, into, operand);
  return into;
}

}  // namespace collectives
