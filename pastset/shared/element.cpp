// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element.cpp — reads of a shared element, and the waiters of this process
#include "pastset/shared/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pastset/shared/hold.hpp"
#include "pastset/x_function_call.hpp"

namespace pastset {

using shared::Waiting;

SharedElement::SharedElement(std::shared_ptr<SharedMapping> mapping,
                             std::shared_ptr<Doorbell> listener, std::uint32_t index,
                             std::string name, Template tuple_template, XFunction x_function)
    : Element(std::move(name), std::move(tuple_template)),
      mapping_(std::move(mapping)),
      listener_(std::move(listener)),
      x_function_(std::move(x_function)),
      log_(*mapping_, index),
      seen_changes_(log_.element().changes) {
  listener_->add(*this);
}

SharedElement::~SharedElement() {
  if (!mapping_->is_ours()) return;  // in the child of a fork, nothing waits in the element
  listener_->remove(*this);
  runtime::DeferredWakes wakes;
  Hold hold(*this, Hold::Of::ours);
  fail_all(std::make_exception_ptr(waiters_.deleted()), wakes);
  try {
    if (!withdrawn_.empty()) hold.try_take(mapping_->lock_patience());
  } catch (const ElementError&) {
    // This process could not remove its waiting moves from the line. After its end another process
    // removes them.
  }
  waiters_.ensure_none();
}

bool SharedElement::never_keeps_movers() const {
  return log_.element().keep_newest.load(std::memory_order_relaxed) > 0 && !x_function_.in;
}

// ---- reading ---------------------------------------------------------------------------------

Stored SharedElement::observe(runtime::Deadline deadline) {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  Hold hold(*this);
  wait_until([&] { return has_unobserved() || log_.users().why_none_comes(); }, hold, deadline,
             log_.numbers().last);
  if (!has_unobserved()) std::rethrow_exception(log_.users().why_none_comes());
  Stored oldest = take_oldest();
  settle(wakes);
  return oldest;
}

std::optional<Stored> SharedElement::try_observe() {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  Hold hold(*this);
  if (!has_unobserved()) return std::nullopt;
  Stored oldest = take_oldest();
  settle(wakes);
  return oldest;
}

Stored SharedElement::observe(std::uint64_t number, runtime::Deadline deadline) {
  refuse_x_function(name());
  Hold hold(*this);
  wait_until([&] { return has(number) || log_.users().why_none_comes(); }, hold, deadline, number);
  if (!has(number)) std::rethrow_exception(log_.users().why_none_comes());
  return read_kept(number);
}

Stored SharedElement::newest(std::uint64_t from, runtime::Deadline deadline) {
  refuse_x_function(name());
  Hold hold(*this);
  wait_until([&] { return has_newest(from) || log_.users().why_none_comes(); }, hold, deadline,
             std::max(from, log_.numbers().last));
  if (!has_newest(from)) std::rethrow_exception(log_.users().why_none_comes());
  return read_newest();
}

std::optional<Stored> SharedElement::try_newest() const {
  refuse_x_function(name());
  const Hold hold(*this);
  if (!has_newest(0)) return std::nullopt;
  return read_newest();
}

bool SharedElement::has_unobserved() const {
  const SharedLog::Numbers it = log_.numbers();
  return it.first < it.last;
}

bool SharedElement::has(std::uint64_t number) const { return number < log_.numbers().last; }

bool SharedElement::has_newest(std::uint64_t from) const {
  const SharedLog::Numbers it = log_.numbers();
  return it.oldest < it.last && from < it.last;
}

/// Reads a tuple and runs the X-functions, before the caller advances `first`. If they throw,
/// nothing has changed.
Stored SharedElement::read(std::uint64_t number) const {
  base::Payload stored = log_.read(number, mapping_);
  if (!x_function_.in && !x_function_.out)
    if (const std::string mismatch = tuple_template().mismatch(stored); !mismatch.empty())
      throw log_.overwritten(number, mismatch);
  return {number, from_stored(*this, x_function_, std::move(stored))};
}

Stored SharedElement::read_kept(std::uint64_t number) const {
  const std::uint64_t oldest = log_.numbers().oldest;
  if (number >= oldest) return read(number);
  throw waiters_.expired(number, oldest);
}

Stored SharedElement::read_newest() const { return read(log_.numbers().last - 1); }

Stored SharedElement::take_oldest() {
  Stored oldest = read(log_.numbers().first);
  log_.users().note_taker();
  log_.range().take_first();
  log_.admit();
  return oldest;
}

// ---- operations that never block -------------------------------------------------------------

std::uint64_t SharedElement::first() const {
  refuse_x_function(name());
  const Hold hold(*this);
  return log_.numbers().first;
}

std::uint64_t SharedElement::last() const {
  refuse_x_function(name());
  const Hold hold(*this);
  return log_.numbers().last;
}

std::uint64_t SharedElement::delta() const {
  refuse_x_function(name());
  const Hold hold(*this);
  return log_.element().delta;
}

void SharedElement::set_delta(std::uint64_t delta) {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  const Hold hold(*this);
  log_.element().delta = delta;
  settle(wakes);
}

void SharedElement::axe(std::uint64_t number) {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  const Hold hold(*this);
  log_.users().note_taker();
  log_.range().free_to(number);
  if (log_.line().is_empty()) return;
  log_.users().note_change();  // moves of other processes may now find memory
  settle(wakes);
}

void SharedElement::delete_element() {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  const Hold hold(*this, Hold::Of::any);
  if (log_.is_deleted()) return;
  log_.users().note_change();
  log_.element().state = shared::Element::deleted;
  waiters_.wake_all(wakes);
  waiters_.notify_changed(wakes);
  fail_all(std::make_exception_ptr(waiters_.deleted()), wakes);
}

bool SharedElement::is_deleted() const {
  refuse_x_function(name());
  return log_.is_deleted();
}

void SharedElement::mark_error(const ErrorMark& mark) {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  const Hold hold(*this);
  if (log_.users().mark()) return;
  write_text(log_.element().mark, mark.text);
  log_.element().mark_state =
      mark.cause == MarkCause::loss ? shared::Element::marked_loss : shared::Element::marked_error;
  log_.users().note_change();
  settle(wakes);
}

std::optional<ErrorMark> SharedElement::error_mark() const {
  refuse_x_function(name());
  const Hold hold(*this);
  return log_.users().mark();
}

// ---- waiting ---------------------------------------------------------------------------------

template <class There>
void SharedElement::wait_until(There there, Hold& hold, runtime::Deadline deadline,
                               std::uint64_t number) {
  const runtime::Reason reason{"tuple of element", name(), number};
  for (bool may_look = true; !there(); hold.take_live()) {
    const std::atomic<std::uint32_t>& changes = log_.element().changes;
    if (may_look) {
      may_look = look(changes, changes, hold, deadline, reason);
      continue;
    }
    if (wait(waiters_.reads(), hold, deadline, reason) == runtime::Woken::notified) continue;
    hold.take_live();
    if (!there()) throw DeadlinePassed(waiters_.no_tuple(number));
    return;
  }
}

/// Releases both locks and waits in `list`. Afterwards the mutex is locked again, but the lock of
/// the log is not.
runtime::Woken SharedElement::wait(runtime::WaitList& list, Hold& hold, runtime::Deadline deadline,
                                   const runtime::Reason& reason) {
  log_.users().listen();
  hold.released_log();
  return waiters_.wait(list, hold.lock(), deadline, reason);
}

/// Polls the shared memory for a while before the thread sleeps. If the change happens during the
/// polling, no other process has to wake this thread.
bool SharedElement::look(const std::atomic<std::uint32_t>& word, std::uint32_t seen, Hold& hold,
                         runtime::Deadline deadline, const runtime::Reason& reason) {
  const Waiters::Blocked blocked(waiters_);
  hold.let_go();
  const bool has_changed = runtime::look_at(word, seen, deadline, reason);
  hold.lock().lock();
  return has_changed;
}

/// Completes all waits of this process that can end after a change of the element, by any process.
/// If the memory is invalid, the waiters receive the error, but the caller does not.
/// Requires: both locks are held.
void SharedElement::settle(runtime::DeferredWakes& wakes) {
  try {
    settle_readable(wakes);
  } catch (const ElementError&) {
    fail_all(std::current_exception(), wakes);
    waiters_.wake_all(wakes);  // each waiter detects the error itself
  }
}

void SharedElement::settle_readable(runtime::DeferredWakes& wakes) {
  for (bool has_served = true; has_served;) {
    has_served = log_.admit();
    if (!waiters_.moves().empty()) has_served |= answer_moves(wakes);
    has_served |= waiters_.started_reads().serve_all(*this, wakes);
  }
  const std::uint32_t changes = log_.element().changes.load(std::memory_order_relaxed);
  if (std::exchange(seen_changes_, changes) == changes) return;
  waiters_.notify_changed(wakes);
  if (waiters_.has_started_reads())
    if (const auto error = log_.users().why_none_comes())
      waiters_.started_reads().fail_all(error, wakes);
  if (!waiters_.moves().empty())
    if (const auto error = log_.users().why_no_room_comes()) fail_moves(error, wakes);
}

/// Handles a change that another process has possibly made. Locks the element only if waiters of
/// this process need it. If another process holds the element for more than 20 ms, returns and has
/// itself called again, so that other elements are not delayed.
bool SharedElement::on_ring(runtime::DeferredWakes& wakes) {
  constexpr bool needs_polling = false;  // other processes signal each change
  if (!log_.users().listens() && !log_.is_deleted()) return needs_polling;
  Hold hold(*this, Hold::Of::ours);
  try {
    if (!log_.is_deleted() && !hold.try_take(SharedMapping::brief_patience)) {
      const base::Nanos now = runtime::steady_now();
      if (!held_since_) held_since_ = now;
      if (now - *held_since_ > mapping_->lock_patience()) throw log_.held_for_long();
      log_.users().ring_this_process();
      return needs_polling;
    }
    held_since_.reset();
    if (log_.is_deleted()) {
      withdrawn_.free_places();
      if (!waiters_.has_any()) return needs_polling;
      waiters_.wake_all(wakes);
      waiters_.notify_changed(wakes);
      fail_all(std::make_exception_ptr(waiters_.deleted()), wakes);
      return needs_polling;
    }
    settle(wakes);
    if (!waiters_.has_any()) log_.users().no_longer_listen();
  } catch (const ElementError&) {
    held_since_.reset();
    fail_all(std::current_exception(), wakes);
    waiters_.wake_all(wakes);  // each waiter detects the error itself
  }
  return needs_polling;
}

// ---- accesses without a context --------------------------------------------------------------

void SharedElement::begin(Access& access) {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  try {
    if (access.kind == Access::Kind::move) {
      Incoming incoming = bring_in(to_store(*this, x_function_, access.tuple));
      const Hold hold(*this);
      begin_move(access, std::move(incoming), wakes);
    } else {
      const Hold hold(*this);
      if (!waiters_.started_reads().serve(access, *this, wakes)) {
        if (const auto error = log_.users().why_none_comes()) std::rethrow_exception(error);
        log_.users().listen();
        waiters_.started_reads().begin(access);
      } else if (access.kind == Access::Kind::observe) {
        settle(wakes);
      }
    }
    return;
  } catch (...) {
    access.error = std::current_exception();
  }
  wakes.notify(access);
}

void SharedElement::fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes) {
  waiters_.started_reads().fail_all(error, wakes);
  for (Waiters::Move* move : waiters_.begun_moves()) {
    move->error = error;
    withdrawn_.add(move->place);
    waiters_.end(*move, wakes);
  }
  if (!withdrawn_.empty()) log_.users().ring_this_process();
}

bool SharedElement::cancel(Access& access) {
  runtime::DeferredWakes wakes;
  std::unique_ptr<Waiters::Move> given_up;  // destroyed after the locks are released
  Hold hold(*this, Hold::Of::ours);
  if (!access.is_waiting) return false;
  if (access.kind != Access::Kind::move) {
    waiters_.started_reads().leave(access);
    return true;
  }
  hold.try_take_quietly(mapping_->lock_patience());
  if (!access.is_waiting) return false;
  Waiters::Move& move = waiters_.move_of(access);
  if (hold.has_log() && !log_.is_deleted() &&
      log_.line().at(move.place).state == Waiting::admitted) {
    settle(wakes);  // another process has already appended the tuple
    return false;
  }
  given_up = waiters_.give_up(move);
  hold.withdraw(move.place);
  return true;
}

std::string SharedElement::lateness(const Access& access) const {
  const Hold hold(*this, Hold::Of::any);
  switch (access.kind) {
    case Access::Kind::move: return no_room();
    case Access::Kind::observe_number: return waiters_.no_tuple(access.number);
    default: return waiters_.no_tuple(std::max(access.number, log_.numbers().last));
  }
}

void SharedElement::watch(AnyChange& watcher) {
  const Hold hold(*this, Hold::Of::any);
  log_.users().listen();
  waiters_.watch(watcher);
}

void SharedElement::unwatch(AnyChange& watcher) {
  runtime::Lock lock(mutex_);
  waiters_.unwatch(watcher);
}

void SharedElement::refuse_orphan() const {
  if (const auto error = log_.users().why_orphaned()) std::rethrow_exception(error);
}

std::string SharedElement::no_room() const {
  const SharedLog::Numbers it = log_.numbers();
  std::string text = waiters_.no_room(it.last - it.first);
  if (it.last - it.first < log_.element().delta) text += "; " + log_.why_no_room();
  return text;
}

}  // namespace pastset
