// SPDX-License-Identifier: Apache-2.0
// paths/joins/root_rounds.cpp — deciding of rounds in order at a root, and marks after a failure.
#include "paths/joins/root_rounds.hpp"

#include <fmt/format.h>

#include <exception>

#include "pastset/errors.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

Result RootRounds::operate(Operation operation, const Next& next, const Decide& decide) {
  if (is_farewell(operation.kind) && has_others_) note_farewell(operation);
  if (operation.kind != OperationKind::move) return next(std::move(operation));
  next.taken();
  if (operation.failure && !has_others_) throw TravelError(*operation.failure);
  const SequenceQueue::Turn turn(turns_, wrapper_.name(), operation.sequence,
                                 operation.failure != nullptr);
  if (const auto known = result_->error_mark()) throw error_of_mark(*known);
  try {
    if (operation.failure) throw TravelError(*operation.failure);
    const std::uint64_t sequence = operation.sequence;
    Result result = decide(std::move(operation), next);
    if (has_others_) note_decided(sequence);
    return result;
  } catch (const std::exception& error) {
    if (has_others_) mark(mark_of(error));
    throw;
  }
}

/// Notes the withdrawal or release of a contributor. After a withdrawal, moves of earlier rounds
/// may still arrive, so the mark may have to wait. After a release, no further operation arrives.
void RootRounds::note_farewell(const Operation& operation) {
  const Failure failure =
      operation.failure
          ? operation.failure
          : view_.failure("", operation.path,
                          fmt::format("{} released its path before round {}",
                                      view_.plan().beginner(operation.path, operation.thread),
                                      operation.sequence));
  const pastset::ErrorMark why = mark_of(*failure);
  {
    runtime::Lock lock(mutex_);
    const bool is_early = operation.kind == OperationKind::withdraw && next_ < operation.sequence;
    if (is_early && (!withdrawn_ || operation.sequence < withdrawn_->from))
      withdrawn_ = {operation.sequence, why};
    if (is_early) return;
  }
  mark(why);
}

void RootRounds::note_decided(std::uint64_t sequence) {
  std::optional<Withdrawn> due;
  {
    runtime::Lock lock(mutex_);
    next_ = sequence + 1;
    if (withdrawn_ && withdrawn_->from <= next_) due.swap(withdrawn_);
  }
  if (due) mark(due->why);
}

void RootRounds::mark(const pastset::ErrorMark& why) {
  try {
    result_->mark_error(why);
  } catch (const pastset::Deleted&) {
    // No mark is needed, because a deleted element reports its deletion to all readers.
  }
}

void RootRounds::check(Operation& operation, const Reduction& reduction) const {
  const base::Sign allowed =
      reduction.sign_of(view_.plan(), index_, operation.path, operation.contributions);
  const std::string wrong = reduction.wrong(operation.payload, allowed);
  if (wrong.empty()) return reduction.normalize(operation);
  fail(operation,
       fmt::format("round {}: {}: {}", operation.sequence,
                   view_.plan().contributor(index_, operation.slot), wrong),
       FailureCause::refused_value);
}

void RootRounds::fail(const Operation& operation, const std::string& reason,
                      FailureCause cause) const {
  throw TravelError(*view_.failure(wrapper_.name(), operation.path, reason, cause));
}

}  // namespace paths
