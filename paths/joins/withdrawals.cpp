// SPDX-License-Identifier: Apache-2.0
// paths/joins/withdrawals.cpp — the first round to which each slot of a join does not contribute.
#include "paths/joins/withdrawals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

void Withdrawals::note_contribution(std::uint32_t slot, std::uint64_t sequence) {
  next_[slot] = std::max(next_[slot], sequence + 1);
}

std::uint64_t Withdrawals::note(const Operation& operation) {
  ENSURE(operation.slot < slots_);
  const auto [known, is_first] = withdrawn_.try_emplace(
      operation.slot,
      Withdrawn{operation.sequence, operation.path, operation.thread, operation.failure});
  const std::uint64_t before = is_first ? never : known->second.from;
  known->second.from = std::min(known->second.from, operation.sequence);
  return before;
}

std::optional<Operation> Withdrawals::news(const Operation& operation, bool is_needed) {
  const std::uint64_t from = std::max(operation.sequence, next_[operation.slot]);
  if (!is_needed || from >= announced_from_) return std::nullopt;
  announced_from_ = from;
  Operation news = operation;
  news.kind = OperationKind::withdraw;
  news.one_way = true;
  news.slot = 0;
  news.sequence = from;
  return news;
}

bool Withdrawals::release(Operation& operation) {
  ENSURE(released_.insert(operation.slot).second);
  if (released_.size() < slots_) return false;
  operation.sequence = std::min(operation.sequence, announced_from_);
  // If the release has no failure yet, it gets the failure of the lowest slot that has a failure.
  // This choice does not depend on the order in which the contributors ended.
  for (const auto& [slot, withdrawn] : withdrawn_)
    if (!operation.failure) operation.failure = withdrawn.failure;
  operation.slot = 0;
  return true;
}

bool Withdrawals::misses(std::uint32_t slot, std::uint64_t sequence) const {
  const auto withdrawn = withdrawn_.find(slot);
  return withdrawn != withdrawn_.end() && withdrawn->second.from <= sequence;
}

std::vector<std::uint32_t> Withdrawals::missing(std::uint64_t sequence) const {
  std::vector<std::uint32_t> slots;
  for (const auto& [slot, withdrawn] : withdrawn_)
    if (withdrawn.from <= sequence) slots.push_back(slot);
  return slots;
}

Failure Withdrawals::failure(const HostView& view, const std::string& join, std::uint32_t slot,
                             std::uint64_t sequence, std::uint32_t path) const {
  const Withdrawn& withdrawn = withdrawn_.at(slot);
  if (withdrawn.failure) return withdrawn.failure;
  return view.failure(join, path,
                      fmt::format("round {}: {} released its path before", sequence,
                                  view.plan().beginner(withdrawn.path, withdrawn.thread)),
                      FailureCause::released);
}

}  // namespace paths
