// SPDX-License-Identifier: Apache-2.0
// bench/support/collective.hpp — properties of an allreduce in a plan
#pragma once
#include <optional>
#include <string>

#include "paths/joins/condition.hpp"
#include "paths/joins/reduction.hpp"
#include "paths/plan/plan.hpp"

namespace bench {

struct Collective {
  std::string name;
  /// Name as paths::algorithm_text() returns it; "unknown" if the plan has none.
  std::string algorithm;
  paths::Reduction reduction;
  std::optional<paths::ConditionSpec> condition;
  /// Returns the outcome of the condition that some of the contributions alone can prove; nullopt
  /// if there is none. The result is the same if the algorithm does not use such proofs.
  std::optional<bool> provable_outcome() const;
};

/// Returns the allreduce of that name; "" stands for the only one of the plan. Throws
/// std::invalid_argument if there is none, if the name is ambiguous, or if the allreduce does not
/// reduce a single scalar.
Collective find_collective(const paths::Plan& plan, const std::string& name);

}  // namespace bench
