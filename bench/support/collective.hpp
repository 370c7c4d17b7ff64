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
  /// Name as paths::algorithm_text() returns it; "unknown" if the plan names no algorithm.
  std::string algorithm;
  paths::Reduction reduction;
  std::optional<paths::ConditionSpec> condition;
  /// Returns the outcome of the condition that a part of the contributions can prove; nullopt if a
  /// part can prove neither outcome. The result is the same even if the algorithm does not use such
  /// proofs.
  std::optional<bool> provable_outcome() const;
};

/// Returns the allreduce with the name `name`; "" stands for the only allreduce of the plan. Throws
/// std::invalid_argument if the plan has no such allreduce, if the name is ambiguous, or if the
/// allreduce does not reduce a single scalar.
Collective find_collective(const paths::Plan& plan, const std::string& name);

}  // namespace bench
