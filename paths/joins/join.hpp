// SPDX-License-Identifier: Apache-2.0
// paths/joins/join.hpp — wrapper in which several paths meet, round by round.
#pragma once
#include <cstdint>
#include <optional>

#include "paths/joins/combiner.hpp"
#include "paths/joins/join_rules.hpp"
#include "paths/joins/round.hpp"
#include "paths/joins/withdrawals.hpp"
#include "paths/operation.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/responder.hpp"
#include "paths/wrapper.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Wrapper in which several paths become one, such as a node of a reduction tree. The leader of a
/// round continues down, and the other contributors wait for a copy of the result.
///
/// A round is one operation of all contributors, keyed by sequence and segment. Several rounds may
/// be open at the same time. A round stays open until every slot has the result. A fast contributor
/// may therefore begin the next round earlier.
///
/// Context: an operation that owns a context (a fiber or thread) waits in this context. For any
///          other operation, the round keeps the responder. The join later replies through the
///          responder, or continues the operation as the leader.
/// Thread-safe.
/// Blocks:  until the round is complete, at most for the host's deadline. At the deadline the round
///          fails for all contributors. The error names the missing contributors, and joins below
///          get the failure. While the leader waits in stages below, the other contributors wait
///          without a deadline, because the leader's wait has a deadline.
/// Order:   rounds have no order: each round continues down as soon as it is complete.
/// Failure: a contribution that failed above counts as arrived. It fails the round for all
///          contributors, and the failure travels down. An error from below reaches all
///          contributors of the round.
/// Ends:    if a slot withdraws or is released, the rounds that still need the slot fail. The join
///          immediately notifies the joins below of the first round to which it does not
///          contribute.
/// Throws:  TravelError with the failure of the round, the same for all contributors. If a value
///          must not be combined, the error names the contributor of the value. Cancelled if the
///          wait is cancelled; the round then continues without waiting for the cancelled
///          operation.
/// Paper:   Bongo et al. 2004, §III-A: only the last arriver continues down.
class Join final : public Wrapper {
 public:
  /// `index` is the index of the wrapper in the plan.
  Join(HostView& view, std::uint32_t index, JoinRules rules);
  /// Adds a move (an operation with a tuple) to its round as a contribution. Sends the withdrawal
  /// of a slot down only if rounds need the slot, and if no withdrawal from the same or an earlier
  /// round was sent down before. Sends a release down only after all slots have been released.
  /// Sends operations of other kinds down unchanged.
  void handle(Operation&& operation, Next next, Responder& responder) override;
  base::Nanos end_late(base::Nanos now) override;
  void give_up() override;
  bool sees_failed_operations() const override { return true; }
  bool joins() const override { return true; }

 private:
  using Key = Round::Key;
  enum class Action : std::uint8_t { lead, take_result, detach };
  friend class Round::Waiter;

  void contribute(Operation&& operation, const Next& next, Responder& responder);
  Round& join_round(Operation& operation);

  std::optional<Action> action_of(Round& round, std::uint32_t slot, bool has_failed) const;
  Action wait_for_action(Round& round, const Operation& operation, runtime::Lock& lock,
                         runtime::DeferredWakes& wakes);
  void park(Round& round, const Operation& operation, const Next& next, Responder& responder);
  void resume(Round::Waiter& waiter);
  void wake(Round& round, runtime::DeferredWakes& wakes) const;
  void take_result(Action action, Round& round, const Failure& failure, Responder& responder);

  void lead(Round& round, Operation&& operation, const Next& next, Responder& responder);
  void lead_here(Round& round, Operation&& operation, const Next& next, Responder& responder);
  void lead_value(Round& round, Operation&& operation, const Next& next, Responder& responder);
  void lead_failure(Round& round, Operation&& operation, const Next& next, Responder& responder);
  Failure prepare(Round& round, Operation& operation, const Next& next);
  void publish(Round& round, const Outcome& outcome);
  void publish_own(Round& round, const Operation& operation, Responder& responder);

  void note_leaving(Operation&& operation, const Next& next, Responder& responder);
  std::optional<Operation> leave_open_rounds(const Operation& operation);
  bool mark_missing(Round& round, std::uint32_t slot, std::uint32_t path);
  void fail_late(Round& round, std::uint32_t path, runtime::DeferredWakes& wakes) const;

  HostView& view_;
  const std::uint32_t index_;
  const std::uint32_t slots_;
  const JoinRules rules_;
  mutable runtime::Mutex mutex_;  // guards the members below, except combiner_
  OpenRounds rounds_;
  Withdrawals withdrawals_;
  const Combiner combiner_;
};

}  // namespace paths
