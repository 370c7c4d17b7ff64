// SPDX-License-Identifier: Apache-2.0
// paths/joins/join.hpp — wrapper in which several paths meet, round by round.
#pragma once
#include <cstdint>
#include <optional>

#include "pastset/template.hpp"
#include "paths/joins/combiner.hpp"
#include "paths/joins/reduction.hpp"
#include "paths/joins/round.hpp"
#include "paths/joins/withdrawals.hpp"
#include "paths/operation.hpp"
#include "paths/plan/host_view.hpp"
#include "paths/responder.hpp"
#include "paths/wrapper.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Rule that selects the leader of a round and the time at which the leader starts. The leader is
/// the contributor that carries the round further down. With fixed_slot_after_all the other
/// contributors get an empty result immediately.
enum class Leader : std::uint8_t {
  last_arriver,          ///< the last contributor to arrive; the others wait for the result
  first_arriver,         ///< the first to arrive, immediately; the others wait for the result
  fixed_slot,            ///< the one at `slot`, on arrival; the others wait for its tuple
  fixed_slot_after_all,  ///< the one at `slot`, after all have arrived; the others do not wait
};

/// Rules of a join: its leader, its reduction, and the tuple that it expects.
struct JoinRules {
  Leader leader = Leader::last_arriver;
  std::uint32_t slot = 0;  ///< slot of a fixed leader
  /// Reduction that checks and combines the contributions. Without a reduction, payloads are not
  /// inspected, and a leader that waits for all carries an empty payload.
  std::optional<Reduction> reduction = {};
  /// Template of the tuple that the fixed slot moves; nullopt if this join does not check the
  /// tuple.
  std::optional<pastset::Template> value = {};

  /// Returns whether the contributor at slot `of` may now become the leader of the round. Requires:
  /// the round has no leader.
  bool is_ready(const Round& round, std::uint32_t of) const;
  bool leads_after_all() const {
    return leader == Leader::last_arriver || leader == Leader::fixed_slot_after_all;
  }
  /// Returns whether a round fails if slot `of` does not contribute.
  bool needs(std::uint32_t of) const {
    return leads_after_all() || (leader == Leader::fixed_slot && of == slot);
  }
};

/// Wrapper in which several paths become one, such as a node of a reduction tree. The leader of a
/// round continues down, and the others wait for a copy of the result.
///
/// A round is one operation of all contributors, keyed by sequence and segment. Several rounds may
/// be open at the same time. A round stays open until every slot has its result, so a fast next
/// round does not disturb it.
///
/// Context: an operation that owns a context (a fiber or thread) waits in it. For any other
///          operation, the round keeps the responder. Through the responder it replies later, or
///          continues the operation as the leader.
/// Thread-safe.
/// Blocks:  until the round is complete, at most for the host's deadline. At the deadline the round
///          fails for all contributors. The error names the missing contributors, and joins below
///          get the failure. While the leader waits in stages below, the other contributors wait
///          without a deadline, because the wait of the leader has one.
/// Order:   rounds have no order; each continues down when it is complete.
/// Failure: a contribution that failed above counts as arrived. It fails the round for all
///          contributors, and the failure travels down. An error from below reaches all
///          contributors of the round.
/// Ends:    if a slot withdraws or is released, the rounds that still need the slot fail. The joins
///          below are notified immediately of the first round to which this join does not
///          contribute.
/// Throws:  TravelError with the failure of the round, the same for all contributors. The error of
///          a value that must not be combined names its contributor. Cancelled if the wait is
///          cancelled; the round then continues without that contributor.
/// Paper:   Bongo et al. 2004, §III-A: only the last arriver continues down.
class Join final : public Wrapper {
 public:
  /// `index` is the index of the wrapper in the plan.
  Join(HostView& view, std::uint32_t index, JoinRules rules);
  /// Adds a move (an operation with a tuple) to its round as a contribution. Sends the withdrawal
  /// of a slot down only if rounds need the slot and no earlier withdrawal was sent down. Sends a
  /// release down only if all other contributors were released before. Sends all other operations
  /// down unchanged.
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
