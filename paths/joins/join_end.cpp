// SPDX-License-Identifier: Apache-2.0
// paths/joins/join_end.cpp — withdrawals and releases of a join's contributors.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/errors.hpp"
#include "paths/joins/join.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Returns the operation that goes on down: the last release, or news of a withdrawal.
std::optional<Operation> Join::note_release(Operation operation) {
  std::optional<Operation> news = note_withdrawal(operation);
  bool is_last = false;
  {
    runtime::Lock lock(mutex_);
    ENSURE(released_.insert(operation.slot).second);
    is_last = released_.size() == slots_;
    if (is_last) operation.sequence = std::min(operation.sequence, announced_withdrawal_from_);
    // The release names the failure of a contributor, whichever ends last.
    for (const auto& [slot, withdrawn] : withdrawn_)
      if (is_last && !operation.failure) operation.failure = withdrawn.failure;
  }
  operation.slot = 0;
  if (is_last) news = std::move(operation);
  return news;
}

/// Fails the open rounds that still need the slot. Returns the withdrawal that goes on down, if the
/// joins below do not know of it and cannot do without the slot.
std::optional<Operation> Join::note_withdrawal(const Operation& operation) {
  std::vector<OpenRounds::Map::node_type> closed;  // destroyed after the mutex is released
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  const std::uint32_t slot = operation.slot;
  ENSURE(slot < slots_);
  const auto [known, is_first] = withdrawn_.try_emplace(
      slot, Withdrawn{operation.sequence, operation.path, operation.thread, operation.failure});
  const std::uint64_t missing_already = is_first ? ~std::uint64_t{0} : known->second.from;
  known->second.from = std::min(known->second.from, operation.sequence);
  OpenRounds::Map& all = rounds_.all();
  for (auto at = all.lower_bound({operation.sequence, 0});
       at != all.end() && at->first.first < missing_already;) {
    Round& round = *(at++)->second;
    const bool is_over = !round.by_slot[slot].is_here && mark_missing(round, slot, operation.path);
    if (round.failure && !round.has_leader) wake(round, wakes);
    if (is_over) closed.push_back(rounds_.close(round.key));
  }
  const std::uint64_t from = std::max(operation.sequence, next_[slot]);
  if (!rules_.needs(slot) || from >= announced_withdrawal_from_) return std::nullopt;
  announced_withdrawal_from_ = from;
  Operation news = operation;
  news.kind = OperationKind::withdraw;
  news.one_way = true;
  news.slot = 0;
  news.sequence = from;
  return news;
}

/// Requires the mutex. The slot will never contribute to this round. Returns whether all slots have
/// left the round now.
bool Join::mark_missing(Round& round, std::uint32_t slot, std::uint32_t path) {
  const bool is_last = round.gone.fetch_add(1, std::memory_order_acq_rel) + 1 == slots_;
  if (!round.has_leader && !round.is_decided() && rules_.needs(slot))
    round.failure = failure_after_withdrawal(slot, round.key.first, path);
  return is_last;
}

/// Requires the mutex. Returns the reason why the slot does not contribute to the round.
Failure Join::failure_after_withdrawal(std::uint32_t slot, std::uint64_t sequence,
                                       std::uint32_t path) const {
  const Withdrawn& withdrawn = withdrawn_.at(slot);
  if (withdrawn.failure) return withdrawn.failure;
  return site_.failure(name(), path,
                       fmt::format("round {}: {} released its path before", sequence,
                                   site_.plan().beginner(withdrawn.path, withdrawn.thread)));
}

}  // namespace paths
