// SPDX-License-Identifier: Apache-2.0
// paths/joins/round.hpp — what every join does: gathers the contributors of a round, goes down
// once.
#pragma once
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "paths/joins/reduction.hpp"
#include "paths/operation.hpp"
#include "paths/plan/site.hpp"
#include "paths/responder.hpp"
#include "paths/wrapper.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Who takes a round down and when, and what the others of the round do.
enum class Carrier : std::uint8_t {
  last,   ///< the last arriver, when all are here; the others wait for what comes up
  first,  ///< the first arriver, at once; the others wait for what comes up
  one,    ///< one chosen slot, at once; the others wait until it is here and get what it brought
  one_after_all,  ///< one chosen slot, when all are here; the others return at once, with nothing
};

struct JoinRules {
  Carrier carrier = Carrier::last;
  std::uint32_t slot = 0;  ///< the chosen one
  /// How contributions are checked and, where the carrier has all of them, combined: in the order
  /// of the slots, so that a result has the same bits from run to run. Without it payloads are
  /// not looked at, and where the carrier has all of them an empty one goes down.
  std::optional<Reduction> reduction = {};
};

/// From this size of a contribution on, threads that wait for the round take part in combining it,
/// and contributions are let go as soon as they are combined.
inline constexpr std::size_t shared_fold_bytes = 1 << 20;

/// The rounds of one join (Bongo et al. 2004, §III-A: only the latest arriver continues down; the
/// others are blocked and return with a copy of the result). A round is one operation of all its
/// contributors, keyed by sequence and segment; several may be open at once. Each is one object
/// with its own waiters and lasts until every slot has taken its answer, so that a fast next round
/// disturbs nobody; then it is kept for a later one, so that steady rounds need no memory.
///
/// Context: an operation that owns a context waits in it. The round keeps the responder of any
/// other
///          operation, and replies to it, or continues it as the leader, when the round changes.
/// Blocks:  while the round is not complete, until the host's deadline; then the round fails for
///          everybody, the error names who is missing, and the failure goes on down, so that joins
///          below learn of it. While somebody is below, without a deadline: he has his own.
/// Order:   none between rounds; each goes down when it is complete.
/// Failure: a contribution that failed above counts as arrived and spoils the round for everyone,
///          and still goes down. What comes up as an error reaches everyone of the round.
/// Ends:    a slot that withdraws, or is released, spoils the rounds that still need it, instead of
///          letting them wait, and joins below are told at once from which round on nothing comes
///          from here.
/// Throws:  TravelError: the round's failure, the same one to all; a value that may not be combined
///          names its contributor. Cancelled, and then the round goes on without the waiter.
class Rounds {
 public:
  /// `wrapper` is the join's index in the plan.
  Rounds(Site& site, std::uint32_t wrapper, JoinRules rules);
  ~Rounds();
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  /// Contributes a move; passes on the withdrawal of the first that is needed; counts a release,
  /// the last of which goes down; passes all others through.
  void handle(Operation&& operation, const Next& next, Responder& responder);
  /// Wrapper::end_late() and Wrapper::give_up() of those without a context.
  base::Nanos end_late(base::Nanos now);
  void give_up();

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // sequence, segment
  struct Contribution;
  struct Round;
  struct Fold;
  struct Waiter;
  using Open = std::map<Key, std::unique_ptr<Round>>;
  enum class Turn : std::uint8_t { carry, answer, leave };

  base::Sign sign_of(std::uint32_t path, std::uint64_t contributions) const;
  void check(Operation& contribution) const;
  void contribute(Operation&& operation, const Next& next, Responder& responder);
  std::optional<Operation> note_end(Operation operation);
  std::optional<Operation> note_release(Operation operation);
  std::optional<Operation> note_withdrawal(const Operation& operation);
  bool completes_for_another(const Round& round) const;
  Round& take_place(const Key& key, Operation& operation);
  Round& open(const Key& key, std::uint32_t path);
  Open::iterator find(const Key& key);
  Open::node_type take_out(Open::iterator round);
  void depart(Round& round, const Key& key);
  void keep(const Key& key);
  std::optional<Turn> turn_of(Round& round, std::uint32_t slot, bool has_failed) const;
  Turn wait_for_turn(Round& round, const Operation& operation, runtime::Lock& lock,
                     runtime::Wakes& wakes);
  void wait_without_context(Round& round, const Operation& operation, const Next& next,
                            Responder& responder);
  void take_turn(Waiter& waiter);
  void take_answer(Turn turn, Round& round, const Key& key, const Failure& failure,
                   Responder responder);
  void wake(Round& round, runtime::Wakes& wakes) const;
  Outcome outcome_of(const Round& round) const;
  bool carries_without_context() const;
  void carry(Round& round, const Key& key, Operation&& operation, const Next& next,
             Responder responder);
  void carry_in_context(Round& round, const Key& key, Operation&& operation, const Next& next,
                        Responder responder);
  void carry_here(Round& round, const Key& key, Operation&& operation, const Next& next,
                  Responder responder);
  void carry_value(Round& round, const Key& key, Operation&& operation, const Next& next,
                   Responder responder);
  void carry_failure(Round& round, const Key& key, Operation&& operation, const Next& next,
                     Responder responder);
  Failure make_ready(Round& round, Operation& operation);
  Failure what_spoils(const Round& round, std::uint32_t slot, std::uint64_t sequence) const;
  bool is_given_up(std::uint64_t sequence) const;
  void combine(Round& round, Operation& operation);
  base::Payload fold_whole(const Round& round, const Operation& operation) const;
  std::optional<base::Payload> fold(Round& round);
  bool fold_part(const Round& round, std::span<std::byte> to, std::size_t at) const;
  bool can_help(const Round& round) const;
  void help(Round& round);
  Failure first_wrong(const Round& round, std::uint32_t slots, std::uint64_t sequence) const;
  Failure refused(std::uint32_t slot, std::uint32_t path, std::uint64_t sequence,
                  const std::string& why) const;
  void publish(Round& round, std::optional<Result> result, Failure failure);
  void publish_value(Round& round, const Operation& operation);
  bool is_ready(const Round& round, std::uint32_t slot) const;
  bool is_needed(std::uint32_t slot) const;
  bool waits_for_all() const;
  bool lose(Round& round, std::uint32_t slot, const Key& key, std::uint32_t path);
  Failure after_withdrawal(std::uint32_t slot, const Key& key, std::uint32_t path) const;
  Failure missing(const Round& round, const Key& key, std::uint32_t path) const;
  Failure failure_of(std::exception_ptr error, std::uint32_t path) const;
  std::string who(std::uint32_t slot) const;

  Site& site_;
  const std::uint32_t wrapper_;
  const std::string& name_;
  const std::uint32_t slots_;
  const JoinRules rules_;
  const std::size_t bytes_;  // of a contribution, where there is a reduction
  /// Whether values are looked at while they are combined and not as they come: each meets another
  /// one there, and nobody acts on his own before.
  const bool checks_in_fold_;
  mutable runtime::Mutex mutex_;
  Open rounds_;
  Open::iterator newest_ = rounds_.end();
  std::vector<Open::node_type> kept_;  // of rounds that have ended, for those to come
  struct Withdrawn {
    std::uint64_t from = 0;  // the round
    std::uint32_t path = 0;  // whose
    std::uint32_t thread = 0;
    Failure failure;  // why, when it is no good end
  };
  std::map<std::uint32_t, Withdrawn> withdrawn_;  // by slot
  std::vector<std::uint64_t> next_;               // by slot: the round after the last it came to
  std::uint64_t told_from_ = ~std::uint64_t{0};   // the round from which on nothing goes down
  std::set<std::uint32_t> released_;              // slots
};

}  // namespace paths
