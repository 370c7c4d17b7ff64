// SPDX-License-Identifier: Apache-2.0
// paths/joins/round.cpp — the life of a round: arrivals, the one who goes down, answers,
// departures.
#include "paths/joins/round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "base/buffer.hpp"
#include "base/errors.hpp"
#include "base/reduce.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/continuation.hpp"
#include "runtime/runtime.hpp"

namespace paths {

struct Rounds::Contribution {
  bool here = false;
  std::uint32_t path = 0;
  std::uint64_t contributions = 0;
  base::Payload payload;
  Failure failure;
  void clear() {
    here = false;
    payload = {};
    failure = nullptr;
  }
};

/// The combining of large contributions, which several contexts share part by part. It is the
/// round's, so that a helper who is in a part may finish it whatever becomes of the others.
struct Rounds::Fold {
  explicit Fold(std::size_t size)
      : sum(size), parts((size + fold_part_bytes - 1) / fold_part_bytes) {}

  base::Buffer sum;
  const std::size_t parts;
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> ended{0};
  std::atomic<bool> is_right{true};
  runtime::WaitList waiting;  // the carrier, for the last part
};

/// Guarded by the mutex, but for `gone` and what is in by_slot: that does not change once the round
/// is carried without a failure.
struct Rounds::Round {
  explicit Round(std::uint32_t slots) : by_slot(slots) {}

  std::vector<Contribution> by_slot;
  std::uint32_t here = 0;              // slots that contributed
  std::atomic<std::uint32_t> gone{0};  // slots that have their answer, or never come
  bool carried = false;                // somebody has it in hand; nobody else may go down
  Failure failure;                     // with the result: never changes once set
  std::optional<Result> result;
  std::unique_ptr<Fold> fold;  // of large contributions
  runtime::WaitList waiting;
  Waiter* first_waiter = nullptr;  // of those without a context, as they came
  Waiter* last_waiter = nullptr;
  base::Nanos until{0};  // the deadline of the first of them to come

  void add(Waiter& waiter);
  bool is_decided() const { return failure || result; }
  void clear() {
    for (Contribution& one : by_slot) one.clear();
    here = 0;
    gone.store(0, std::memory_order_relaxed);
    carried = false;
    failure = nullptr;
    result.reset();
    fold.reset();
  }
};

/// An operation that waits for its round without a context. It is the round's until it is told that
/// its turn has come.
struct Rounds::Waiter final : runtime::Told, runtime::Continuation {
  Waiter(Rounds& of, Round& in, const Operation& waiting, const Next& rest)
      : rounds(of), round(in), head(waiting), failure(waiting.failure), next(rest) {}
  void told() noexcept override { runtime::resume(rounds.site_.runtime(), *this); }
  void go_on() noexcept override { rounds.take_turn(*this); }

  Rounds& rounds;
  Round& round;
  const OperationHead head;
  Failure failure;  // of its contribution, or of its wait
  const Next next;
  Responder responder;
  Turn turn = Turn::leave;
  Waiter* next_waiter = nullptr;
};

/// First come, first answered. Of other processes those who came last mostly share our core, and
/// have it only when we are through; the others go on meanwhile.
void Rounds::Round::add(Waiter& waiter) {
  (last_waiter != nullptr ? last_waiter->next_waiter : first_waiter) = &waiter;
  last_waiter = &waiter;
}

namespace {

const std::string& name_of(const Plan::PlanWrapper& wrapper) {
  return wrapper.name.empty() ? wrapper.kind : wrapper.name;
}

}  // namespace

Rounds::Rounds(Site& site, std::uint32_t wrapper, JoinRules rules)
    : site_(site),
      wrapper_(wrapper),
      name_(name_of(site.plan().wrappers[wrapper])),
      slots_(site.plan().wrappers[wrapper].slots),
      rules_(std::move(rules)),
      bytes_(rules_.reduction ? rules_.reduction->shape.bytes() : 0),
      checks_in_fold_(rules_.carrier == Carrier::last && slots_ > 1 && rules_.reduction &&
                      rules_.reduction->elements != nullptr),
      next_(slots_, 0) {
  ENSURE(slots_ > 0);
}

Rounds::~Rounds() = default;

void Rounds::handle(Operation&& operation, const Next& next, Responder& responder) {
  switch (operation.kind) {
    case OperationKind::move:
      check(operation);
      return contribute(std::move(operation), next, responder);
    case OperationKind::withdraw:
    case OperationKind::release:
      if (auto news = note_end(std::move(operation)))
        return next.handle(*std::move(news), std::move(responder));
      return responder.reply(Result{});
    default: return next.handle(std::move(operation), std::move(responder));
  }
}

base::Sign Rounds::sign_of(std::uint32_t path, std::uint64_t contributions) const {
  return rules_.reduction->sign_of(site_.plan(), wrapper_, path, contributions);
}

/// A value that may not be combined arrives as a failure.
void Rounds::check(Operation& contribution) const {
  if (!rules_.reduction || contribution.failure) return;
  if (checks_in_fold_ && contribution.payload.size() == bytes_) return;
  const std::string wrong = rules_.reduction->wrong(
      contribution.payload, sign_of(contribution.path, contribution.contributions));
  if (wrong.empty()) return rules_.reduction->normalize(contribution);
  contribution.payload = {};
  contribution.failure =
      refused(contribution.slot, contribution.path, contribution.sequence, wrong);
}

void Rounds::contribute(Operation&& operation, const Next& next, Responder& responder) {
  next.taken();
  const Key key(operation.sequence, operation.segment);
  Turn turn;
  Round* round = nullptr;
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    round = &take_place(key, operation);
    if (completes_for_another(*round)) wake(*round, wakes);
    const std::optional<Turn> now = turn_of(*round, operation.slot, operation.failure != nullptr);
    if (!now && !responder.owns_context())
      return wait_without_context(*round, operation, next, responder);
    turn = now ? *now : wait_for_turn(*round, operation, lock, wakes);
  }
  if (turn == Turn::carry)
    return carry(*round, key, std::move(operation), next, std::move(responder));
  take_answer(turn, *round, key, operation.failure, std::move(responder));
}

/// Called with the mutex held. The last arriver wakes the one who carries for him; he himself stays
/// for nothing.
bool Rounds::completes_for_another(const Round& round) const {
  return rules_.carrier == Carrier::one_after_all && round.here == slots_;
}

/// Called with the mutex held.
Rounds::Round& Rounds::take_place(const Key& key, Operation& operation) {
  ENSURE(operation.slot < slots_);
  // A withdrawal is not delayed, so that of a host that died may overtake what it sent before; the
  // round has counted the slot out.
  const auto withdrawn = withdrawn_.find(operation.slot);
  if (withdrawn != withdrawn_.end() && withdrawn->second.from <= key.first)
    throw TravelError(*after_withdrawal(operation.slot, key, operation.path));
  const auto found = find(key);
  Round& round = found != rounds_.end() ? *found->second : open(key, operation.path);
  Contribution& mine = round.by_slot[operation.slot];
  ENSURE(!mine.here);
  mine.here = true;
  mine.path = operation.path;
  mine.contributions = operation.contributions;
  mine.payload = std::move(operation.payload);
  mine.failure = operation.failure;
  ++round.here;
  next_[operation.slot] = std::max(next_[operation.slot], key.first + 1);
  return round;
}

/// Called with the mutex held. Those who said that they would not come are gone already.
Rounds::Round& Rounds::open(const Key& key, std::uint32_t path) {
  Open::iterator at;
  if (kept_.empty()) {
    at = rounds_.emplace(key, std::make_unique<Round>(slots_)).first;
    kept_.reserve(rounds_.size());  // where they will be kept
  } else {
    kept_.back().key() = key;
    at = rounds_.insert(std::move(kept_.back())).position;
    kept_.pop_back();
  }
  newest_ = at;
  Round& round = *at->second;
  for (const auto& [slot, withdrawn] : withdrawn_) {
    if (withdrawn.from <= key.first) lose(round, slot, key, path);
  }
  return round;
}

/// Called with the mutex held. Mostly all are of the round that was opened last.
Rounds::Open::iterator Rounds::find(const Key& key) {
  return newest_ != rounds_.end() && newest_->first == key ? newest_ : rounds_.find(key);
}

/// Called with the mutex held.
Rounds::Open::node_type Rounds::take_out(Open::iterator round) {
  if (round == newest_) newest_ = rounds_.end();
  return rounds_.extract(round);
}

void Rounds::depart(Round& round, const Key& key) {
  if (round.gone.fetch_add(1, std::memory_order_acq_rel) + 1 == slots_) keep(key);
}

/// All have gone, and it may be another one. What it holds is let go outside the mutex.
void Rounds::keep(const Key& key) {
  runtime::Lock lock(mutex_);
  Open::node_type ended = take_out(find(key));
  lock.unlock();
  // Simulations have very many joins, whose kept rounds would take as much memory again.
  if (site_.runtime().is_virtual()) return;
  ended.mapped()->clear();
  lock.lock();
  kept_.push_back(std::move(ended));
}

/// Called with the mutex held. What the contributor is to do now, if it need not wait: it takes the
/// round down when it is ready, and must when it has failed and nobody is below.
std::optional<Rounds::Turn> Rounds::turn_of(Round& round, std::uint32_t slot,
                                            bool has_failed) const {
  if (!round.carried && (round.failure || is_ready(round, slot))) {
    round.carried = true;
    return Turn::carry;
  }
  if (round.is_decided()) return Turn::answer;
  const bool stays = rules_.carrier != Carrier::one_after_all || slot == rules_.slot;
  if (!stays || (has_failed && !waits_for_all())) return Turn::leave;
  return std::nullopt;
}

/// Called with the mutex held. Waits until the round is decided, or is this context's to take down.
Rounds::Turn Rounds::wait_for_turn(Round& round, const Operation& operation, runtime::Lock& lock,
                                   runtime::Wakes& wakes) {
  const Key key(operation.sequence, operation.segment);
  struct Stay {  // from which who is cancelled departs
    Rounds& rounds;
    Round& round;
    const Key& key;
    runtime::Lock& lock;
    bool has_ended = true;
    ~Stay() {
      if (!has_ended) return;
      if (lock.owns_lock()) lock.unlock();
      rounds.depart(round, key);
    }
  } stay{*this, round, key, lock};
  std::optional<runtime::Deadline> deadline;
  while (true) {
    if (const auto turn = turn_of(round, operation.slot, operation.failure != nullptr)) {
      stay.has_ended = false;
      return *turn;
    }
    if (can_help(round)) {
      lock.unlock();
      help(round);
      lock.lock();
      continue;  // much may have happened
    }
    if (!deadline) deadline = site_.deadline();
    const runtime::Woken woken = round.waiting.wait(
        lock, round.carried ? runtime::Deadline::never() : *deadline,
        {round.carried ? "the result of round" : "contributions of round", name_, key.first});
    if (woken == runtime::Woken::notified || round.carried || round.is_decided()) continue;
    if (is_ready(round, operation.slot)) continue;
    round.failure = missing(round, key, operation.path);
    wake(round, wakes);
  }
}

/// Called with the mutex held: those who wait look again, and who waits without a context is told
/// what is his to do, if it is his turn.
void Rounds::wake(Round& round, runtime::Wakes& wakes) const {
  round.waiting.wake_all(wakes);
  Waiter* waiting = std::exchange(round.first_waiter, nullptr);
  round.last_waiter = nullptr;
  while (waiting != nullptr) {
    Waiter& waiter = *waiting;
    waiting = std::exchange(waiter.next_waiter, nullptr);
    if (const auto turn = turn_of(round, waiter.head.slot, waiter.failure != nullptr)) {
      waiter.turn = *turn;
      wakes.tell(waiter);
    } else {
      round.add(waiter);
    }
  }
}

// ---- without a context ------------------------------------------------------------------------

/// Called with the mutex held. Those who come later are not late before the first.
void Rounds::wait_without_context(Round& round, const Operation& operation, const Next& next,
                                  Responder& responder) {
  Waiter& waiter = responder.emplace_state<Waiter>(*this, round, operation, next.detached());
  waiter.responder = std::move(responder);
  round.add(waiter);
  if (round.first_waiter != &waiter) return;
  round.until = runtime::end_of(site_.runtime(), site_.deadline());
  next.expect(round.until);
}

void Rounds::take_turn(Waiter& waiter) {
  const Turn turn = waiter.turn;
  Round& round = waiter.round;
  const Key key(waiter.head.sequence, waiter.head.segment);
  Responder responder = std::move(waiter.responder);
  if (turn == Turn::carry) {
    Operation operation{waiter.head, {}, std::move(waiter.failure)};
    const Next next = waiter.next;
    responder.pop_state();
    return carry(round, key, std::move(operation), next, std::move(responder));
  }
  const Failure failure = std::move(waiter.failure);
  responder.pop_state();
  take_answer(turn, round, key, failure, std::move(responder));
}

void Rounds::take_answer(Turn turn, Round& round, const Key& key, const Failure& failure,
                         Responder responder) {
  if (turn == Turn::answer && (waits_for_all() || !failure)) {
    Outcome outcome = outcome_of(round);
    depart(round, key);
    return responder.reply(std::move(outcome));
  }
  Outcome outcome{{}, failure};
  outcome.result.sequence = key.first;
  depart(round, key);
  responder.reply(std::move(outcome));
}

/// What the round came to for those that did not carry it, once it is decided.
Outcome Rounds::outcome_of(const Round& round) const {
  if (round.failure) return {{}, round.failure};
  Outcome outcome{*round.result, nullptr};
  outcome.result.last_arriver = false;
  return outcome;
}

/// What takes long, or waits for others that take part, has a context.
bool Rounds::carries_without_context() const {
  if (!rules_.reduction || !waits_for_all() || slots_ == 1) return true;
  return rules_.reduction->elements != nullptr && bytes_ <= fold_part_bytes;
}

/// Rounds that are late end, as by a waiter with a context; answers when the next one will.
base::Nanos Rounds::end_late(base::Nanos now) {
  base::Nanos next_one = base::Nanos::max();
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  for (auto& [key, round] : rounds_) {
    if (round->first_waiter == nullptr || round->carried) continue;
    if (round->until > now) {
      next_one = std::min(next_one, round->until);
      continue;
    }
    if (!round->failure) round->failure = missing(*round, key, round->first_waiter->head.path);
    wake(*round, wakes);  // one of them takes it down
  }
  return next_one;
}

void Rounds::give_up() {
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  for (auto& [key, round] : rounds_) {
    round->last_waiter = nullptr;
    while (Waiter* const waiter = round->first_waiter) {
      round->first_waiter = waiter->next_waiter;
      waiter->turn = Turn::leave;
      waiter->failure = site_.failure(name_, waiter->head.path, "ended");
      wakes.tell(*waiter);
    }
  }
}

// ---- down and up ------------------------------------------------------------------------------

/// Called with the mutex held: may the contributor at `slot` take the round down?
bool Rounds::is_ready(const Round& round, std::uint32_t slot) const {
  switch (rules_.carrier) {
    case Carrier::last: return round.here == slots_;
    case Carrier::first: return !round.by_slot[slot].failure || round.here == slots_;
    case Carrier::one: return slot == rules_.slot;
    case Carrier::one_after_all: return slot == rules_.slot && round.here == slots_;
  }
  return false;
}

bool Rounds::waits_for_all() const {
  return rules_.carrier == Carrier::last || rules_.carrier == Carrier::one_after_all;
}

bool Rounds::is_needed(std::uint32_t slot) const {
  return waits_for_all() || (rules_.carrier == Carrier::one && slot == rules_.slot);
}

void Rounds::carry(Round& round, const Key& key, Operation&& operation, const Next& next,
                   Responder responder) {
  if (responder.owns_context() || carries_without_context())
    return carry_here(round, key, std::move(operation), next, std::move(responder));
  carry_in_context(round, key, std::move(operation), next, std::move(responder));
}

void Rounds::carry_in_context(Round& round, const Key& key, Operation&& operation, const Next& next,
                              Responder responder) {
  const auto kept = std::make_shared<Responder>(std::move(responder));
  next.in_context([this, &round, key, operation = std::move(operation), rest = next.detached(),
                   kept] { carry_here(round, key, Operation(operation), rest, std::move(*kept)); });
}

void Rounds::carry_here(Round& round, const Key& key, Operation&& operation, const Next& next,
                        Responder responder) {
  operation.failure = make_ready(round, operation);
  if (operation.failure)
    carry_failure(round, key, std::move(operation), next, std::move(responder));
  else
    carry_value(round, key, std::move(operation), next, std::move(responder));
}

/// Makes of the contributor's operation the join's, with what the carrier takes down; the failure
/// when there is nothing to take.
Failure Rounds::make_ready(Round& round, Operation& operation) {
  const std::uint32_t slot = std::exchange(operation.slot, 0);  // from here on it is the join's
  operation.payload = {};
  if (Failure failure = what_spoils(round, slot, operation.sequence)) return failure;
  try {
    if (waits_for_all()) combine(round, operation);
    if (rules_.carrier == Carrier::one) operation.payload = round.by_slot[slot].payload;
  } catch (...) {
    return failure_of(std::current_exception(), operation.path);
  }
  return nullptr;
}

/// The failure of a round that is going down, if it has one: it expired, or lost a contributor;
/// else the first failed contribution of those that count. From when it is carried, only its
/// carrier decides it.
Failure Rounds::what_spoils(const Round& round, std::uint32_t carrier,
                            std::uint64_t sequence) const {
  if (round.failure) return round.failure;
  if (!waits_for_all()) return round.by_slot[carrier].failure;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    const Failure& failure = round.by_slot[slot].failure;
    if (!failure) continue;
    const Failure before = first_wrong(round, slot, sequence);
    return before ? before : failure;
  }
  return nullptr;
}

/// The first of so many slots whose value should have been refused, had it been looked at.
Failure Rounds::first_wrong(const Round& round, std::uint32_t slots, std::uint64_t sequence) const {
  if (!checks_in_fold_) return nullptr;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const Contribution& one = round.by_slot[slot];
    const std::string wrong =
        rules_.reduction->wrong(one.payload, sign_of(one.path, one.contributions));
    if (!wrong.empty()) return refused(slot, one.path, sequence, wrong);
  }
  return nullptr;
}

Failure Rounds::refused(std::uint32_t slot, std::uint32_t path, std::uint64_t sequence,
                        const std::string& why) const {
  return site_.failure(name_, path, fmt::format("round {}: {}: {}", sequence, who(slot), why));
}

void Rounds::carry_value(Round& round, const Key& key, Operation&& operation, const Next& next,
                         Responder responder) {
  if (rules_.carrier == Carrier::one) {
    publish_value(round, operation);
    responder.on_reply(
        [this, &round, key, value = operation.payload](Responder up, Outcome&& outcome) {
          outcome.result.payload = value;
          outcome.result.last_arriver = false;
          depart(round, key);
          up.reply(std::move(outcome));
        });
  } else {
    responder.on_reply([this, &round, key](Responder up, Outcome&& outcome) {
      const bool is_well = !outcome.failure;
      publish(round, is_well ? std::optional(outcome.result) : std::nullopt, outcome.failure);
      outcome.result.last_arriver = rules_.carrier == Carrier::last;
      depart(round, key);
      up.reply(std::move(outcome));
    });
  }
  next.handle(std::move(operation), std::move(responder));
}

/// The joins below learn of it, unless they wait for the round no more; what comes of that is not
/// what comes up.
void Rounds::carry_failure(Round& round, const Key& key, Operation&& operation, const Next& next,
                           Responder responder) {
  const Failure failure = operation.failure;
  publish(round, std::nullopt, failure);
  const auto end = [this, &round, key, failure](Responder up, const Outcome&) {
    depart(round, key);
    up.fail(failure);
  };
  if (is_given_up(key.first)) return end(std::move(responder), {});
  operation.payload = {};
  responder.on_reply(end);
  next.handle(std::move(operation), std::move(responder));
}

/// The value is what the others came for; what happens to it below is the carrier's alone.
void Rounds::publish_value(Round& round, const Operation& operation) {
  Result brought;
  brought.sequence = operation.sequence;
  brought.contributions = operation.contributions;
  brought.payload = operation.payload;
  publish(round, std::move(brought), nullptr);
}

/// Joins below wait for it no more.
bool Rounds::is_given_up(std::uint64_t sequence) const {
  runtime::Lock lock(mutex_);
  return told_from_ <= sequence;
}

void Rounds::combine(Round& round, Operation& operation) {
  operation.contributions = 0;
  for (const Contribution& one : round.by_slot) operation.contributions += one.contributions;
  if (!rules_.reduction) return;
  if (slots_ == 1) {
    operation.payload = round.by_slot[0].payload;
  } else if (rules_.reduction->elements == nullptr) {
    operation.payload = fold_whole(round, operation);
  } else if (auto sum = fold(round)) {
    operation.payload = *std::move(sum);
    if (operation.payload.size() >= shared_fold_bytes)
      for (Contribution& one : round.by_slot) one.payload = {};
  } else {
    if (const Failure wrong = first_wrong(round, slots_, operation.sequence))
      throw TravelError(*wrong);
    fold_whole(round, operation);
    base::report_bug(__FILE__, __LINE__, "parts could not be combined, but the whole can");
  }
}

/// One contribution after the other, with words for what cannot be combined.
base::Payload Rounds::fold_whole(const Round& round, const Operation& operation) const {
  const std::span<const std::byte> first = round.by_slot[0].payload.bytes();
  return base::Payload::filled(first.size(), [&](std::span<std::byte> sum) {
    std::copy(first.begin(), first.end(), sum.begin());
    for (std::uint32_t slot = 1; slot < slots_; ++slot) {
      if (sum.size() > fold_part_bytes) runtime::yield_to_services();
      try {
        rules_.reduction->fold(sum, round.by_slot[slot].payload.bytes());
      } catch (const base::BadValue& bad) {
        throw TravelError(*site_.failure(name_, operation.path,
                                         fmt::format("round {}: combining what {} contributed: {}",
                                                     operation.sequence, who(slot), bad.what())));
      }
    }
  });
}

/// Part after part, each of all slots in their order: the bits are those of the whole, but every
/// byte is read once. Nothing when some value is wrong.
std::optional<base::Payload> Rounds::fold(Round& round) {
  const std::size_t size = bytes_;
  if (size < shared_fold_bytes || site_.runtime().is_virtual()) {
    bool is_right = true;
    base::Buffer sum(size);
    for (std::size_t at = 0; at < size; at += fold_part_bytes) {
      if (at > 0) runtime::yield_to_services();
      if (!fold_part(round, sum.bytes(), at)) is_right = false;
    }
    return is_right ? std::optional(std::move(sum).freeze()) : std::nullopt;
  }
  {
    runtime::Wakes wakes;
    auto shared = std::make_unique<Fold>(size);
    runtime::Lock lock(mutex_);
    round.fold = std::move(shared);
    round.waiting.wake_all(wakes);
  }
  help(round);
  Fold& shared = *round.fold;
  runtime::Lock lock(mutex_);
  while (shared.ended.load(std::memory_order_acquire) < shared.parts)
    shared.waiting.wait(lock, runtime::Deadline::never(), {"the last part of a sum in", name_});
  return shared.is_right ? std::optional(std::move(shared.sum).freeze()) : std::nullopt;
}

/// The part of the result that begins at `at`; false when some value in it is wrong.
bool Rounds::fold_part(const Round& round, std::span<std::byte> to, std::size_t at) const {
  const Reduction& reduction = *rules_.reduction;
  const auto part_of = [at](auto bytes) {
    return bytes.subspan(at, std::min(fold_part_bytes, bytes.size() - at));
  };
  const std::span<std::byte> sum = part_of(to);
  bool is_right = true;
  std::span<const std::byte> left;
  for (const Contribution& one : round.by_slot) {
    const std::span<const std::byte> mine = part_of(one.payload.bytes());
    const base::Sign sign = sign_of(one.path, one.contributions);
    if (sign != base::Sign::any)
      is_right &= base::are_right(reduction.shape.scalar, sign, reduction.values, mine);
    if (&one != &round.by_slot.front()) {
      is_right &= reduction.elements(sum, left, mine);
      left = sum;
    } else {
      left = mine;
    }
  }
  return is_right;
}

/// Called with the mutex held: by an OS thread of the program, which has nothing else to do.
bool Rounds::can_help(const Round& round) const {
  return round.fold && round.fold->begun.load(std::memory_order_relaxed) < round.fold->parts &&
         !site_.runtime().on_services_thread();
}

/// Takes parts until all have been begun. What is in by_slot does not change meanwhile.
void Rounds::help(Round& round) {
  Fold& shared = *round.fold;
  for (;;) {
    const std::size_t part = shared.begun.fetch_add(1, std::memory_order_relaxed);
    if (part >= shared.parts) return;
    if (!fold_part(round, shared.sum.bytes(), part * fold_part_bytes)) shared.is_right = false;
    if (shared.ended.fetch_add(1, std::memory_order_acq_rel) + 1 < shared.parts) {
      runtime::yield_to_services();
      continue;
    }
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    shared.waiting.wake_all(wakes);
    return;
  }
}

void Rounds::publish(Round& round, std::optional<Result> result, Failure failure) {
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  if (round.is_decided()) return;
  round.result = std::move(result);
  round.failure = std::move(failure);
  wake(round, wakes);
  lock.unlock();
  wakes.services_first();
}

/// What goes on down of a withdrawal or a release.
std::optional<Operation> Rounds::note_end(Operation operation) {
  if (operation.kind == OperationKind::withdraw) return note_withdrawal(operation);
  return note_release(std::move(operation));
}

std::optional<Operation> Rounds::note_release(Operation operation) {
  std::optional<Operation> news = note_withdrawal(operation);
  bool is_last = false;
  {
    runtime::Lock lock(mutex_);
    ENSURE(released_.insert(operation.slot).second);
    is_last = released_.size() == slots_;
    if (is_last) operation.sequence = std::min(operation.sequence, told_from_);
    for (const auto& [slot, withdrawn] : withdrawn_)  // who died is told of, whoever ends last
      if (is_last && !operation.failure) operation.failure = withdrawn.failure;
  }
  operation.slot = 0;
  if (is_last) news = std::move(operation);
  return news;
}

/// Rounds that still need the slot have lost it. What joins below are to be told, if that is news
/// for them: not of a slot that they can do without.
std::optional<Operation> Rounds::note_withdrawal(const Operation& operation) {
  std::vector<Open::node_type> done;
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  const std::uint32_t slot = operation.slot;
  ENSURE(slot < slots_);
  const auto [known, is_first] = withdrawn_.try_emplace(
      slot, Withdrawn{operation.sequence, operation.path, operation.thread, operation.failure});
  const std::uint64_t lost_already = is_first ? ~std::uint64_t{0} : known->second.from;
  known->second.from = std::min(known->second.from, operation.sequence);
  for (auto at = rounds_.lower_bound({operation.sequence, 0});
       at != rounds_.end() && at->first.first < lost_already;) {
    Round& round = *at->second;
    const bool has_ended =
        !round.by_slot[slot].here && lose(round, slot, at->first, operation.path);
    if (round.failure && !round.carried) wake(round, wakes);
    const auto next_one = std::next(at);
    if (has_ended) done.push_back(take_out(at));
    at = next_one;
  }
  const std::uint64_t from = std::max(operation.sequence, next_[slot]);
  if (!is_needed(slot) || from >= told_from_) return std::nullopt;
  told_from_ = from;
  Operation news = operation;
  news.kind = OperationKind::withdraw;
  news.one_way = true;
  news.slot = 0;
  news.sequence = from;
  return news;
}

/// Called with the mutex held: the slot will never contribute to this round. Answers whether it was
/// the last that the round was kept for.
bool Rounds::lose(Round& round, std::uint32_t slot, const Key& key, std::uint32_t path) {
  const bool is_last = round.gone.fetch_add(1, std::memory_order_acq_rel) + 1 == slots_;
  if (!round.carried && !round.is_decided() && is_needed(slot))
    round.failure = after_withdrawal(slot, key, path);
  return is_last;
}

/// Called with the mutex held: why there is nothing from this slot any more.
Failure Rounds::after_withdrawal(std::uint32_t slot, const Key& key, std::uint32_t path) const {
  const Withdrawn& withdrawn = withdrawn_.at(slot);
  if (withdrawn.failure) return withdrawn.failure;
  return site_.failure(name_, path,
                       fmt::format("round {}: {} released its path before", key.first,
                                   site_.plan().beginner(withdrawn.path, withdrawn.thread)));
}

Failure Rounds::missing(const Round& round, const Key& key, std::uint32_t path) const {
  constexpr std::uint32_t named_max = 8;
  std::string names;
  std::uint32_t count = 0;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    if (round.by_slot[slot].here || !is_needed(slot)) continue;
    if (++count > named_max) continue;
    if (count > 1) names += ", ";
    names += who(slot);
  }
  if (count > named_max) names += fmt::format(" and {} more", count - named_max);
  return site_.failure(name_, path,
                       fmt::format("round {}: missing at the deadline: {}", key.first, names));
}

Failure Rounds::failure_of(std::exception_ptr error, std::uint32_t path) const {
  try {
    std::rethrow_exception(error);
  } catch (const TravelError& travel_error) {
    return std::make_shared<const TravelError>(travel_error);
  } catch (const runtime::Stop& stop) {
    return site_.failure(name_, path, stop.what());
  } catch (const std::exception& other) {
    return site_.failure(name_, path, other.what());
  } catch (...) {
    return site_.failure(name_, path, "something that is no std::exception was thrown");
  }
}

std::string Rounds::who(std::uint32_t slot) const {
  return site_.plan().contributor(wrapper_, slot);
}

}  // namespace paths
