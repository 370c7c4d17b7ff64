// SPDX-License-Identifier: Apache-2.0
// paths/joins/join.cpp — the steps of a round, from the first contribution to the last reply.
#include "paths/joins/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "pastset/errors.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/continuation.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// An operation that waits for its round without blocking a context (fiber or thread).
///
/// Owns: nothing. The round keeps this object in a list until wake() finds the next action of the
///       operation. The memory of this object is in the OperationState of the operation.
class Round::Waiter final : public runtime::Waiter, public runtime::Continuation {
 public:
  Waiter(Join& of, Round& in, const Operation& waiting, const Next& rest)
      : join(of), round(in), head(waiting), failure(waiting.failure), next(rest) {}

  Join& join;
  Round& round;
  const OperationHead head;
  Failure failure;  // failure of the contribution or of its wait; nullptr if there is none
  const Next next;
  Responder responder;
  Join::Action action = Join::Action::detach;
  Waiter* next_waiter = nullptr;

 private:
  void notify() noexcept override { runtime::schedule(join.view_.runtime(), *this); }
  void resume() noexcept override { join.resume(*this); }
};

/// Appends a waiter. Waiters continue in the order of their arrival.
/// Why: operations of processes that share the core of this thread usually arrive last, because
///      these processes run only when this thread pauses. In the order of arrival, waiters of
///      processes on other cores continue first, in parallel with this thread.
void Round::add(Waiter& waiter) {
  (last_waiter != nullptr ? last_waiter->next_waiter : first_waiter) = &waiter;
  last_waiter = &waiter;
}

Join::Join(HostView& view, std::uint32_t index, JoinRules rules)
    : view_(view),
      index_(index),
      slots_(view.plan().wrappers[index].slots),
      rules_(std::move(rules)),
      rounds_(slots_, !view.runtime().is_virtual()),
      withdrawals_(slots_),
      combiner_(view, *this, index, rules_.reduction, rules_.leader == Leader::last_arriver,
                mutex_) {
  ENSURE(slots_ > 0);
}

void Join::handle(Operation&& operation, Next next, Responder& responder) {
  switch (operation.kind) {
    case OperationKind::move: return contribute(std::move(operation), next, responder);
    case OperationKind::withdraw:
    case OperationKind::release: return note_leaving(std::move(operation), next, responder);
    default: return next.handle(std::move(operation), std::move(responder));
  }
}

/// Handles the withdrawal or release of a slot. Not inlined, so that handle() has a small stack
/// frame: a thread that waits in a function called by handle() then touches one page of its stack.
[[gnu::noinline]] void Join::note_leaving(Operation&& operation, const Next& next,
                                          Responder& responder) {
  std::optional<Operation> news = leave_open_rounds(operation);
  if (operation.kind == OperationKind::release) {
    const runtime::Lock lock(mutex_);
    if (withdrawals_.release(operation)) news = std::move(operation);
  }
  if (news) return next.handle(*std::move(news), std::move(responder));
  responder.reply(Result{});
}

// ---- arrival ----------------------------------------------------------------------------------

void Join::contribute(Operation&& operation, const Next& next, Responder& responder) {
  const bool is_checked = rules_.leader == Leader::fixed_slot && rules_.value;
  if (is_checked && operation.slot == rules_.slot && !operation.failure) {
    const std::string mismatch = rules_.value->mismatch(operation.payload);
    if (!mismatch.empty()) {
      operation.payload = {};
      operation.failure = view_.failure(name(), operation.path,
                                        fmt::format("round {}: {}", operation.sequence, mismatch),
                                        FailureCause::refused_value);
    }
  }
  combiner_.check(operation);
  next.taken();
  Action action;
  Round* round = nullptr;
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex_);
    round = &join_round(operation);
    // With fixed_slot_after_all, the last contributor to arrive wakes the leader.
    if (rules_.leader == Leader::fixed_slot_after_all && round->here == slots_) wake(*round, wakes);
    const auto now = action_of(*round, operation.slot, operation.failure != nullptr);
    if (!now && !responder.owns_context()) return park(*round, operation, next, responder);
    action = now ? *now : wait_for_action(*round, operation, lock, wakes);
  }
  if (action == Action::lead) return lead(*round, std::move(operation), next, responder);
  take_result(action, *round, operation.failure, responder);
}

/// Adds a contribution to its round, and opens the round if necessary.
/// Requires: mutex_ held.
Round& Join::join_round(Operation& operation) {
  ENSURE(operation.slot < slots_);
  // The round does not expect this contribution if the slot has withdrawn. The withdrawal of a host
  // that died may overtake operations that the host sent earlier, because withdrawals are not
  // delayed.
  if (withdrawals_.misses(operation.slot, operation.sequence))
    throw TravelError(
        *withdrawals_.failure(view_, name(), operation.slot, operation.sequence, operation.path));
  const Key key(operation.sequence, operation.segment);
  Round* const known = rounds_.find(key);
  Round& round = known != nullptr ? *known : rounds_.open(key);
  if (known == nullptr)
    for (const std::uint32_t slot : withdrawals_.missing(key.first))
      mark_missing(round, slot, operation.path);
  Contribution& mine = round.by_slot[operation.slot];
  ENSURE(!mine.is_here);
  mine.is_here = true;
  mine.path = operation.path;
  mine.contributions = operation.contributions;
  mine.payload = std::move(operation.payload);
  mine.failure = operation.failure;
  round.until = std::min(round.until, operation.until);
  ++round.here;
  withdrawals_.note_contribution(operation.slot, key.first);
  return round;
}

// ---- waiting ----------------------------------------------------------------------------------

/// Returns the next action of the contributor; nullopt if the contributor must wait. The
/// contributor becomes the leader if the round has no leader, and if the round is ready or has
/// failed. `has_failed` tells whether the contribution has failed.
/// Requires: mutex_ held.
std::optional<Join::Action> Join::action_of(Round& round, std::uint32_t slot,
                                            bool has_failed) const {
  if (!round.has_leader && (round.failure || rules_.is_ready(round, slot))) {
    round.has_leader = true;
    return Action::lead;
  }
  if (round.is_decided()) return Action::take_result;
  const bool stays = rules_.leader != Leader::fixed_slot_after_all || slot == rules_.slot;
  if (!stays || (has_failed && !rules_.leads_after_all())) return Action::detach;
  return std::nullopt;
}

/// Blocks the operation's context until the contributor has a next action.
/// Requires: `lock` holds mutex_.
Join::Action Join::wait_for_action(Round& round, const Operation& operation, runtime::Lock& lock,
                                   runtime::DeferredWakes& wakes) {
  struct Stay {  // removes a cancelled contributor from the round
    Join& join;
    Round& round;
    runtime::Lock& lock;
    bool is_cancelled = true;
    ~Stay() {
      if (!is_cancelled) return;
      if (lock.owns_lock()) lock.unlock();
      join.rounds_.leave(round, join.mutex_);
    }
  } stay{*this, round, lock};
  const std::uint64_t sequence = operation.sequence;
  while (true) {
    if (const auto action = action_of(round, operation.slot, operation.failure != nullptr)) {
      stay.is_cancelled = false;
      return *action;
    }
    if (combiner_.can_help(round)) {
      lock.unlock();
      combiner_.help(round);
      lock.lock();
      continue;  // help() ran without mutex_, so the round may have changed
    }
    const runtime::Woken woken = round.waiting.wait(
        lock,
        round.has_leader ? runtime::Deadline::never()
                         : runtime::Deadline::written_at(view_.round_end(operation.until, index_)),
        {round.has_leader ? "the result of round" : "contributions of round", name(), sequence});
    if (woken == runtime::Woken::notified || round.has_leader || round.is_decided()) continue;
    // The deadline of the round has passed, and the round has no leader. Contributions are
    // therefore missing, because the round would have a leader if all had arrived.
    fail_late(round, operation.path, wakes);
  }
}

/// Adds an operation that has no context of its own to the waiters of the round.
/// Requires: mutex_ held.
void Join::park(Round& round, const Operation& operation, const Next& next, Responder& responder) {
  Round::Waiter& waiter =
      responder.emplace_state<Round::Waiter>(*this, round, operation, next.detached());
  waiter.responder = std::move(responder);
  round.add(waiter);
  next.expect(view_.round_end(round.until, index_));
}

void Join::resume(Round::Waiter& waiter) {
  const Action action = waiter.action;
  Round& round = waiter.round;
  Responder responder = std::move(waiter.responder);
  if (action == Action::lead) {
    Operation operation{waiter.head, {}, std::move(waiter.failure)};
    const Next next = waiter.next;
    responder.pop_state();
    return lead(round, std::move(operation), next, responder);
  }
  const Failure failure = std::move(waiter.failure);
  responder.pop_state();
  take_result(action, round, failure, responder);
}

/// Wakes all contexts that wait for the round, and resumes the waiters that now have an action.
/// Requires: mutex_ held.
void Join::wake(Round& round, runtime::DeferredWakes& wakes) const {
  round.waiting.wake_all(wakes);
  Round::Waiter* waiting = std::exchange(round.first_waiter, nullptr);
  round.last_waiter = nullptr;
  while (waiting != nullptr) {
    Round::Waiter& waiter = *waiting;
    waiting = std::exchange(waiter.next_waiter, nullptr);
    if (const auto action = action_of(round, waiter.head.slot, waiter.failure != nullptr)) {
      waiter.action = *action;
      wakes.notify(waiter);
    } else {
      round.add(waiter);
    }
  }
}

/// Replies to a contributor that does not lead the round. `failure` is the failure of the
/// contribution or of its wait for the round; nullptr if there is none.
void Join::take_result(Action action, Round& round, const Failure& failure, Responder& responder) {
  Outcome outcome;
  if (action == Action::take_result && (rules_.leads_after_all() || !failure)) {
    outcome.failure = round.failure;
    if (!round.failure) outcome.result = *round.result;
    outcome.result.last_arriver = false;
  } else {
    outcome.failure = failure;
    outcome.result.sequence = round.key.first;
  }
  rounds_.leave(round, mutex_);
  responder.reply(std::move(outcome));
}

base::Nanos Join::end_late(base::Nanos now) {
  base::Nanos next = base::Nanos::max();
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  for (auto& [key, round] : rounds_.all()) {
    if (round->first_waiter == nullptr || round->has_leader) continue;
    if (const base::Nanos end = view_.round_end(round->until, index_); end > now) {
      next = std::min(next, end);
      continue;
    }
    // fail_late() makes one of the waiters the leader of the failed round.
    fail_late(*round, round->first_waiter->head.path, wakes);
  }
  return next;
}

void Join::give_up() {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  for (auto& [key, round] : rounds_.all()) {
    round->last_waiter = nullptr;
    while (Round::Waiter* const waiter = round->first_waiter) {
      round->first_waiter = waiter->next_waiter;
      waiter->action = Action::detach;
      waiter->failure = view_.failure(name(), waiter->head.path, "ended", FailureCause::ended);
      wakes.notify(*waiter);
    }
  }
}

// ---- the leader -------------------------------------------------------------------------------

namespace {

// Many threads may wait in functions that lead() calls, and each of them should touch few pages of
// its stack. Rarely needed code is therefore in separate functions that are not inlined.

template <class Lead>
[[gnu::noinline]] void lead_in_context(const Next& next, Operation&& operation,
                                       Responder&& responder, Lead lead) {
  const auto kept = std::make_shared<Responder>(std::move(responder));
  next.in_context([lead, operation = std::move(operation), rest = next.detached(), kept] {
    lead(Operation(operation), rest, *kept);
  });
}

/// Returns the failure of a round that must not be sent down as a value; nullptr if there is no
/// failure. If the round failed before it had a leader, returns the failure of the round, such as a
/// missed deadline or a lost contributor. Otherwise returns the first failure among the
/// contributions that the leader carries down.
Failure failure_before(const JoinRules& rules, const Combiner& combiner, const Round& round,
                       std::uint32_t leader) {
  if (round.failure) return round.failure;
  if (!rules.leads_after_all()) return round.by_slot[leader].failure;
  for (std::size_t slot = 0; slot < round.by_slot.size(); ++slot) {
    const Failure& failure = round.by_slot[slot].failure;
    if (!failure) continue;
    const Failure before =
        combiner.first_wrong(std::span(round.by_slot).first(slot), round.key.first);
    return before ? before : failure;
  }
  return nullptr;
}

}  // namespace

void Join::lead(Round& round, Operation&& operation, const Next& next, Responder& responder) {
  if (responder.owns_context() || !rules_.leads_after_all() || combiner_.is_short())
    return lead_here(round, std::move(operation), next, responder);
  lead_in_context(next, std::move(operation), std::move(responder),
                  [this, &round](Operation&& mine, const Next& rest, Responder& kept) {
                    lead_here(round, std::move(mine), rest, kept);
                  });
}

void Join::lead_here(Round& round, Operation&& operation, const Next& next, Responder& responder) {
  operation.failure = prepare(round, operation, next);
  if (operation.failure)
    lead_failure(round, std::move(operation), next, responder);
  else
    lead_value(round, std::move(operation), next, responder);
}

/// Turns the operation of the leader into the operation that the join sends down. Returns the
/// failure of the round; nullptr if there is none.
Failure Join::prepare(Round& round, Operation& operation, const Next& next) {
  const std::uint32_t slot =
      // In the joins below, this join is a contributor; its operations leave it with slot 0.
      std::exchange(operation.slot, 0);
  operation.payload = {};
  if (Failure failure = failure_before(rules_, combiner_, round, slot)) return failure;
  // If the leader carries all contributions down, all contributors wait for the result. The
  // earliest of their deadlines then applies below. round.until is constant here, because all
  // contributions have arrived. (A failed round, to which contributions may still arrive, has
  // returned above.)
  if (rules_.leads_after_all()) operation.until = round.until;
  try {
    if (rules_.leads_after_all()) combiner_.combine(round, operation);
    if (rules_.leader == Leader::fixed_slot) operation.payload = round.by_slot[slot].payload;
  } catch (const runtime::Stop& stop) {
    return view_.failure(name(), operation.path, stop.what(), FailureCause::ended);
  } catch (const pastset::Marked& mark) {
    // A reduction function of the application has read an element that has an error mark.
    return view_.failure(name(), operation.path, mark.what());
  } catch (...) {
    return next.failure_of(std::current_exception(), operation.path);
  }
  return nullptr;
}

void Join::lead_value(Round& round, Operation&& operation, const Next& next, Responder& responder) {
  if (rules_.leader == Leader::fixed_slot) {
    publish_own(round, operation, responder);
  } else {
    responder.on_reply([this, &round](Responder up, Outcome&& outcome) {
      publish(round, outcome);
      outcome.result.last_arriver = rules_.leader == Leader::last_arriver;
      rounds_.leave(round, mutex_);
      up.reply(std::move(outcome));
    });
  }
  next.handle(std::move(operation), std::move(responder));
}

/// Makes the leader's value the result of the round. The other contributors then stop waiting. If
/// the leader's operation fails later, in stages below, only the leader gets that failure.
[[gnu::noinline]] void Join::publish_own(Round& round, const Operation& operation,
                                         Responder& responder) {
  Outcome brought;
  brought.result.sequence = operation.sequence;
  brought.result.contributions = operation.contributions;
  brought.result.payload = operation.payload;
  publish(round, brought);
  responder.on_reply([this, &round, value = operation.payload](Responder up, Outcome&& outcome) {
    outcome.result.payload = value;
    outcome.result.last_arriver = false;
    rounds_.leave(round, mutex_);
    up.reply(std::move(outcome));
  });
}

/// Makes the failure of `operation` the failure of the round for all contributors. Also sends the
/// failure down, unless the joins below already know that this join does not contribute to the
/// round. Ignores the reply from below.
void Join::lead_failure(Round& round, Operation&& operation, const Next& next,
                        Responder& responder) {
  const Failure failure = operation.failure;
  publish(round, {{}, failure});
  bool is_announced = false;
  {
    const runtime::Lock lock(mutex_);
    is_announced = withdrawals_.is_announced(round.key.first);
  }
  const auto end = [this, &round, failure](Responder up, const Outcome&) {
    rounds_.leave(round, mutex_);
    up.fail(failure);
  };
  if (is_announced) return end(std::move(responder), {});
  operation.payload = {};
  responder.on_reply(end);
  next.handle(std::move(operation), std::move(responder));
}

void Join::publish(Round& round, const Outcome& outcome) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  if (round.is_decided()) return;
  if (outcome.failure)
    round.failure = outcome.failure;
  else
    round.result.emplace(outcome.result);
  wake(round, wakes);
  lock.unlock();
  wakes.services_first();
}

/// Fails a round whose deadline has passed, unless the round has already failed.
/// Requires: mutex_ held.
void Join::fail_late(Round& round, std::uint32_t path, runtime::DeferredWakes& wakes) const {
  constexpr std::uint32_t named_max = 8;
  std::string names;
  std::uint32_t count = 0;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    if (round.by_slot[slot].is_here || !rules_.needs(slot)) continue;
    if (++count > named_max) continue;
    if (count > 1) names += ", ";
    names += view_.plan().contributor(index_, slot);
  }
  if (count > named_max) names += fmt::format(" and {} more", count - named_max);
  if (!round.failure) round.failure = round.first_failure_above();
  if (!round.failure)
    round.failure = view_.failure(
        name(), path, fmt::format("round {}: missing at the deadline: {}", round.key.first, names),
        FailureCause::deadline);
  wake(round, wakes);
}

// ---- withdrawal and release of contributors ---------------------------------------------------

/// Fails the open rounds that still need the slot of `operation`. Returns the withdrawal that the
/// join must send down; nullopt if it must send none. The returned withdrawal counts as announced
/// before the waiters wake. The leader of a failed round therefore does not send the failure down
/// again.
std::optional<Operation> Join::leave_open_rounds(const Operation& operation) {
  std::vector<OpenRounds::Map::node_type> closed;  // destroyed after mutex_ is released
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  const std::uint32_t slot = operation.slot;
  const std::uint64_t missing_already = withdrawals_.note(operation);
  OpenRounds::Map& all = rounds_.all();
  for (auto at = all.lower_bound({operation.sequence, 0});
       at != all.end() && at->first.first < missing_already;) {
    Round& round = *(at++)->second;
    const bool is_over = !round.by_slot[slot].is_here && mark_missing(round, slot, operation.path);
    if (round.failure && !round.has_leader) wake(round, wakes);
    if (is_over) closed.push_back(rounds_.close(round.key));
  }
  return withdrawals_.news(operation, rules_.needs(slot));
}

/// Notes that the slot will never contribute to this round. Returns whether no slot waits for the
/// round any more.
/// Requires: mutex_ held.
bool Join::mark_missing(Round& round, std::uint32_t slot, std::uint32_t path) {
  const bool is_last = round.gone.fetch_add(1, std::memory_order_acq_rel) + 1 == slots_;
  if (!round.has_leader && !round.is_decided() && rules_.needs(slot))
    round.failure = withdrawals_.failure(view_, name(), slot, round.key.first, path);
  return is_last;
}

}  // namespace paths
