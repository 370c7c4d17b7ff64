// SPDX-License-Identifier: Apache-2.0
// paths/cluster_rounds.cpp — turns, and what a failure ends.
#include "paths/cluster_rounds.hpp"

#include <fmt/format.h>

#include <exception>

#include "pastset/errors.hpp"
#include "paths/host.hpp"
#include "paths/plan.hpp"

namespace paths {

Result ClusterRounds::operate(Operation operation, const Next& next, const Decide& decide) {
  // Nobody of the cluster comes any more, and it is no end that the others expect.
  if (operation.kind == OperationKind::release && operation.failure && has_others_)
    mark(operation.failure->what());
  if (operation.kind != OperationKind::move) return next(std::move(operation));
  next.taken();
  if (operation.failure && !has_others_) throw TravelError(*operation.failure);
  const Turns::Turn turn(turns_, wrapper_.name(), operation.sequence, operation.failure != nullptr);
  if (const auto error = result_->error_mark()) fail(operation, *error);
  try {
    if (operation.failure) throw TravelError(*operation.failure);
    return decide(std::move(operation), next);
  } catch (const std::exception& error) {
    if (has_others_) mark(error.what());
    throw;
  }
}

void ClusterRounds::mark(const std::string& error) {
  try {
    result_->mark_error(error);
  } catch (const pastset::Deleted&) {
    // Everyone who reads it is told so by the element.
  }
}

void ClusterRounds::check(const Operation& operation, const Reduction& reduction) const {
  const std::string wrong = reduction.wrong(operation);
  if (wrong.empty()) return;
  fail(operation, fmt::format("round {}: {}: {}", operation.sequence,
                              host_.plan().contributor(index_, operation.slot), wrong));
}

void ClusterRounds::fail(const Operation& operation, const std::string& reason) const {
  throw TravelError(*host_.failure(wrapper_.name(), operation.path, reason));
}

}  // namespace paths
