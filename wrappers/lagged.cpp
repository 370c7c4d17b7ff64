// SPDX-License-Identifier: Apache-2.0
// wrappers/lagged.cpp — unfinished rounds and their results.
#include "wrappers/lagged.hpp"

#include <exception>
#include <utility>

namespace wrappers {

using paths::OperationKind;
using paths::Result;

struct Lagged::Round {
  std::uint64_t sequence = 0;
  runtime::Mutex mutex;
  runtime::WaitList waiting;
  bool is_done = false;
  Result result;
  std::exception_ptr error;
};

Result Lagged::operate(paths::Operation operation, paths::Next next) {
  if (operation.kind == OperationKind::move && !operation.failure)
    return move(std::move(operation), next);
  if (operation.kind == OperationKind::move) keep_place(operation);
  if (operation.kind == OperationKind::release) drain(operation, next);
  return next(std::move(operation));
}

/// Adds a round that has already failed. A later move returns the failure, `rounds` moves after
/// this one, like the result of any other round.
void Lagged::keep_place(const paths::Operation& failed) {
  const auto round = std::make_shared<Round>();
  round->sequence = failed.sequence;
  round->is_done = true;
  round->error = std::make_exception_ptr(paths::TravelError(*failed.failure));
  add(failed.slot, round);
}

/// Adds a round. Returns the round that began `rounds_` moves before it, whose result is due now.
/// Returns nullptr if there is no such round yet.
std::shared_ptr<Lagged::Round> Lagged::add(std::uint32_t slot, std::shared_ptr<Round> round) {
  runtime::Lock lock(mutex_);
  Rounds& rounds = under_way_[slot];
  rounds.push_back(std::move(round));
  if (rounds.size() <= rounds_) return nullptr;
  auto due = std::move(rounds.front());
  rounds.pop_front();
  return due;
}

Result Lagged::move(paths::Operation operation, const paths::Next& next) {
  next.taken();
  Result unchecked = paths::unchecked_result(operation, operation.payload);
  const std::uint32_t slot = operation.slot;
  const std::shared_ptr<Round> due = add(slot, start(std::move(operation), next));
  if (!due) return unchecked;
  wait(*due);
  if (due->error) std::rethrow_exception(due->error);
  return std::move(due->result);
}

std::shared_ptr<Lagged::Round> Lagged::start(paths::Operation operation, const paths::Next& next) {
  const auto round = std::make_shared<Round>();
  round->sequence = operation.sequence;
  const auto run = [round, rest = next.detached(), operation = std::move(operation)] {
    Result result;
    std::exception_ptr error;
    try {
      result = rest(operation);
    } catch (...) {
      error = std::current_exception();
    }
    runtime::DeferredWakes wakes;
    runtime::Lock lock(round->mutex);
    round->result = std::move(result);
    round->error = error;
    round->is_done = true;
    round->waiting.wake_all(wakes);
  };
  // Service contexts start in the order in which they were spawned. The moves therefore go down in
  // order.
  deployment_.services().spawn("round", run).detach();
  return round;
}

void Lagged::wait(Round& round) const {
  runtime::Lock lock(round.mutex);
  while (!round.is_done) {
    round.waiting.wait(lock, runtime::Deadline::never(),
                       {"result of an earlier round", name(), round.sequence});
  }
}

/// Waits for the unfinished rounds of the contributor. Announces the contributor's withdrawal
/// first, so that other contributors need not wait for its release.
void Lagged::drain(const paths::Operation& release, const paths::Next& next) {
  Rounds rounds;
  {
    runtime::Lock lock(mutex_);
    rounds.swap(under_way_[release.slot]);
  }
  if (rounds.empty()) return;
  paths::Operation withdrawal = release;
  withdrawal.kind = OperationKind::withdraw;
  withdrawal.one_way = true;
  next(std::move(withdrawal));
  for (const auto& round : rounds) wait(*round);
}

paths::WrapperKind lagged_kind() {
  paths::WrapperKind kind;
  kind.name = "lagged";
  kind.help = "Starts each round and returns the result of an earlier one.";
  kind.may_answer_partial_values = true;
  kind.settings = {{"rounds", "integer from 1 to 1000000", "required",
                    "Number of rounds by which a result is late."}};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace&) -> paths::MakeWrapper {
    if (!reader.has("rounds")) reader.mistake("rounds", "missing, expected a number of rounds");
    const auto rounds = static_cast<std::uint64_t>(reader.integer("rounds", 1, 1, 1'000'000));
    return [rounds](paths::Deployment& deployment) {
      return std::make_unique<Lagged>(deployment, rounds);
    };
  };
  return kind;
}

}  // namespace wrappers
