// SPDX-License-Identifier: Apache-2.0
// bench/support/collective.hpp — what a plan says of an allreduce: algorithm, reduction, condition.
#pragma once
#include <optional>
#include <string>

#include "paths/joins/condition.hpp"
#include "paths/joins/reduction.hpp"
#include "paths/plan/plan.hpp"

namespace bench {

struct Collective {
  std::string name;
  std::string algorithm;  ///< as paths::algorithm_text() says it; "unknown" when the plan does not
  paths::Reduction reduction;
  std::optional<paths::ConditionSpec> condition;
  /// The outcome that a part of the contributions can establish, whether or not the algorithm
  /// makes use of it.
  std::optional<bool> provable_outcome() const;
};

/// The allreduce of that name; "" stands for the only one: of graphs that the plan says to be one.
/// Throws std::invalid_argument when there is none or the name does not say which, and for one
/// that does not reduce a single scalar.
Collective find_collective(const paths::Plan& plan, const std::string& name);

}  // namespace bench
