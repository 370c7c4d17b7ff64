// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element.cpp — reads of a shared element, and the waiters of this process
#include "pastset/shared/element.hpp"

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
    if (moves_.has_withdrawn()) hold.try_take(mapping_->lock_patience());
  } catch (const ElementError&) {
    // This process could not remove its waiting moves from the line. After its end another process
    // removes them.
  }
  waiters_.ensure_none();
}

ElementTraits SharedElement::traits() const {
  const bool keeps_newest = log_.element().keep_newest.load(std::memory_order_relaxed) > 0;
  return {.never_keeps_movers = keeps_newest && !x_function_.in,
          .runs_x_functions = x_function_.in || x_function_.out,
          .may_be_held = true};
}

// ---- reading ---------------------------------------------------------------------------------

Stored SharedElement::read(Access::Kind kind, std::uint64_t number, runtime::Deadline deadline) {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  Hold hold(*this);
  const std::uint64_t awaited = awaited_number(kind, number, log_.numbers().last);
  const runtime::Reason reason{"tuple of element", name(), awaited};
  bool may_look = true, is_late = false;
  for (; !tuples_.has(kind, number); hold.take_live()) {
    if (const auto error = log_.users().why_none_comes()) std::rethrow_exception(error);
    if (is_late) throw DeadlinePassed(waiters_.no_tuple(awaited));
    const std::atomic<std::uint32_t>& changes = log_.element().changes;
    if (may_look)
      may_look = hold.look(changes, changes, deadline, reason);
    else
      is_late = hold.wait(waiters_.reads(), deadline, reason) == runtime::Woken::expired;
  }
  Stored tuple = tuples_.take(kind, number);
  if (kind == Access::Kind::observe) settle(wakes);
  return tuple;
}

std::optional<Stored> SharedElement::try_observe() {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  Hold hold(*this);
  if (!tuples_.has(Access::Kind::observe, 0)) return std::nullopt;
  Stored oldest = tuples_.take(Access::Kind::observe, 0);
  settle(wakes);
  return oldest;
}

std::optional<Stored> SharedElement::try_newest() const {
  refuse_x_function(name());
  const Hold hold(*this);
  if (!tuples_.has(Access::Kind::newest, 0)) return std::nullopt;
  return tuples_.read_newest();
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

/// Completes all waits of this process that can end after a change of the element, by any process.
/// If the memory is invalid, the waiters receive the error, but the caller does not.
/// Requires: both locks are held.
void SharedElement::settle(runtime::DeferredWakes& wakes) {
  try {
    for (bool has_served = true; has_served;) {
      has_served = log_.admit();
      if (!waiters_.moves().empty()) has_served |= moves_.answer(wakes);
      has_served |= waiters_.started_reads().serve_all(tuples_, wakes);
    }
    const std::uint32_t changes = log_.element().changes.load(std::memory_order_relaxed);
    if (std::exchange(seen_changes_, changes) == changes) return;
    waiters_.notify_changed(wakes);
    if (waiters_.has_started_reads())
      if (const auto error = log_.users().why_none_comes())
        waiters_.started_reads().fail_all(error, wakes);
    if (!waiters_.moves().empty())
      if (const auto error = log_.users().why_no_room_comes()) moves_.fail(error, wakes);
  } catch (const ElementError&) {
    fail_all(std::current_exception(), wakes);
    waiters_.wake_all(wakes);  // each waiter detects the error itself
  }
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
      moves_.free_withdrawn();
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
      SharedMoves::Incoming incoming = bring_in(access.tuple);
      const Hold hold(*this);
      if (const auto number = moves_.append(incoming)) {
        answer(access, *number, wakes);
      } else {
        const std::uint32_t place = moves_.join_line(incoming);
        waiters_.begin(std::make_unique<Waiters::Move>(waiters_, std::move(incoming.tuple), place),
                       access);
        log_.users().listen();
      }
      settle(wakes);
    } else {
      const Hold hold(*this);
      if (!waiters_.started_reads().serve(access, tuples_, wakes)) {
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
  moves_.withdraw_begun();
  waiters_.fail_all(error, wakes);
  if (moves_.has_withdrawn()) log_.users().ring_this_process();
}

bool SharedElement::cancel(Access& access, std::string* lateness) {
  runtime::DeferredWakes wakes;
  std::unique_ptr<Waiters::Move> given_up;  // destroyed after the locks are released
  const bool is_move = access.kind == Access::Kind::move;
  Hold hold(*this, lateness != nullptr ? Hold::Of::any : Hold::Of::ours);
  if (!access.is_waiting) return false;
  if (lateness != nullptr)
    *lateness =
        is_move
            ? moves_.no_room()
            : waiters_.no_tuple(awaited_number(access.kind, access.number, log_.numbers().last));
  if (!is_move) {
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
  moves_.withdraw(move.place, hold.has_log());
  return true;
}

void SharedElement::set_watcher(AnyChange& watcher, bool is_watching) {
  const Hold hold(*this, is_watching ? Hold::Of::any : Hold::Of::ours);
  if (is_watching) log_.users().listen();
  waiters_.set_watcher(watcher, is_watching);
}

}  // namespace pastset
