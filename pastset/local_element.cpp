// SPDX-License-Identifier: Apache-2.0
// pastset/local_element.cpp — operations of an element in process memory
#include "pastset/local_element.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "pastset/any_change.hpp"
#include "pastset/x_function_call.hpp"

namespace pastset {

LocalElement::LocalElement(std::string name, Template tuple_template, ElementOptions options)
    : Element(std::move(name), std::move(tuple_template)), options_(std::move(options)) {}

LocalElement::~LocalElement() {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  waiters_.fail_all(std::make_exception_ptr(waiters_.deleted()), wakes);
  waiters_.ensure_none();
}

ElementTraits LocalElement::traits() const {
  const XFunction& of = options_.x_function;
  return {.never_keeps_movers = options_.keep_newest > 0 && !of.in,
          .runs_x_functions = of.in || of.out};
}

/// Appends a tuple, or waits until it was appended. The context that makes room appends the waiting
/// tuple. The tuples are therefore in the order of the queue, even if the waiting contexts wake up
/// in a different order.
std::uint64_t LocalElement::move(const base::Payload& payload, runtime::Deadline deadline) {
  refuse_x_function(name());
  base::Payload stored = to_store(*this, options_.x_function, payload);
  // Release functions must not run under our mutex, so payloads are destroyed after the unlock.
  base::Payload dropped;
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  if (waiters_.moves().empty() && tuples_.has_room()) {
    const std::uint64_t number = append(std::move(stored), dropped, wakes);
    settle(wakes);
    return number;
  }
  Waiters::Move move(waiters_, std::move(stored));
  waiters_.wait(move.waiting, lock, deadline, {"room in element", name(), tuples_.last()});
  if (move.number) return *move.number;
  if (deleted_) throw waiters_.deleted();
  throw DeadlinePassed(waiters_.no_room(tuples_.last() - tuples_.first()));
}

Stored LocalElement::read(Access::Kind kind, std::uint64_t number, runtime::Deadline deadline) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  const std::uint64_t awaited = awaited_number(kind, number, tuples_.last());
  for (bool is_late = false; !tuples_.has(kind, number);) {
    if (error_mark_) throw Marked(*error_mark_);
    if (is_late) throw DeadlinePassed(waiters_.no_tuple(awaited));
    is_late = waiters_.wait(waiters_.reads(), lock, deadline,
                            {"tuple of element", name(), awaited}) == runtime::Woken::expired;
    if (deleted_) throw waiters_.deleted();
  }
  Stored tuple = tuples_.take(kind, number);
  if (kind == Access::Kind::observe) settle(wakes);
  return tuple;
}

std::optional<Stored> LocalElement::try_observe() {
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  if (!tuples_.has(Access::Kind::observe, 0)) return std::nullopt;
  Stored oldest = tuples_.take(Access::Kind::observe, 0);
  settle(wakes);
  return oldest;
}

std::optional<Stored> LocalElement::try_newest() const {
  runtime::Lock lock = lock_alive();
  if (!tuples_.has(Access::Kind::newest, 0)) return std::nullopt;
  return tuples_.read_newest();
}

std::uint64_t LocalElement::first() const {
  runtime::Lock lock = lock_alive();
  return tuples_.first();
}

std::uint64_t LocalElement::last() const {
  runtime::Lock lock = lock_alive();
  return tuples_.last();
}

std::uint64_t LocalElement::delta() const {
  runtime::Lock lock = lock_alive();
  return tuples_.delta();
}

void LocalElement::set_delta(std::uint64_t delta) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  tuples_.set_delta(delta);
  settle(wakes);
}

void LocalElement::axe(std::uint64_t number) {
  std::vector<base::Payload> freed;  // destroyed after our mutex is unlocked
  runtime::Lock lock = lock_alive();
  freed = tuples_.free_to(number);
}

void LocalElement::delete_element() {
  refuse_x_function(name());
  base::Ring<base::Payload> freed;  // destroyed after our mutex is unlocked
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  if (deleted_) return;
  deleted_ = true;
  freed = tuples_.free_all();
  waiters_.wake_all(wakes);
  waiters_.notify_changed(wakes);
  waiters_.fail_all(std::make_exception_ptr(waiters_.deleted()), wakes);
}

bool LocalElement::is_deleted() const {
  refuse_x_function(name());
  runtime::Lock lock(mutex_);
  return deleted_;
}

void LocalElement::mark_error(const ErrorMark& mark) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  if (error_mark_) return;
  error_mark_ = mark;
  waiters_.notify_changed(wakes);
  waiters_.started_reads().fail_all(std::make_exception_ptr(Marked(mark)), wakes);
}

std::optional<ErrorMark> LocalElement::error_mark() const {
  runtime::Lock lock = lock_alive();
  return error_mark_;
}

runtime::Lock LocalElement::lock_alive() const {
  refuse_x_function(name());
  runtime::Lock lock(mutex_);
  if (deleted_) throw waiters_.deleted();
  return lock;
}

/// Appends a tuple for which there is room, and wakes readers. `dropped` receives the tuple that
/// keep_newest frees.
std::uint64_t LocalElement::append(base::Payload stored, base::Payload& dropped,
                                   runtime::DeferredWakes& wakes) {
  const std::uint64_t number = tuples_.append(std::move(stored));
  waiters_.notify_changed(wakes);
  dropped = tuples_.drop_beyond_newest();
  return number;
}

/// Serves waiting accesses until none can be served any more. The loop is necessary because a
/// served read makes room for moves, and an admitted move provides a tuple for reads.
void LocalElement::settle(runtime::DeferredWakes& wakes) {
  for (bool goes_on = !waiters_.moves().empty() || waiters_.has_started_reads(); goes_on;) {
    goes_on = false;
    for (; !waiters_.moves().empty() && tuples_.has_room(); goes_on = true) {
      Waiters::Move& move = *waiters_.moves().front();
      move.number = tuples_.append(std::move(move.stored));
      waiters_.notify_changed(wakes);
      waiters_.end(move, wakes);
    }
    goes_on |= waiters_.started_reads().serve_all(tuples_, wakes);
  }
}

// ---- accesses without a context ---------------------------------------------------------------

void LocalElement::begin(Access& access) {
  refuse_x_function(name());
  base::Payload dropped;  // destroyed after our mutex is unlocked
  runtime::DeferredWakes wakes;
  try {
    if (access.kind == Access::Kind::move) {
      base::Payload stored = to_store(*this, options_.x_function, access.tuple);
      const runtime::Lock lock = lock_alive();
      if (waiters_.moves().empty() && tuples_.has_room()) {
        answer(access, append(std::move(stored), dropped, wakes), wakes);
        settle(wakes);
      } else {
        waiters_.begin(std::make_unique<Waiters::Move>(waiters_, std::move(stored)), access);
      }
    } else {
      const runtime::Lock lock = lock_alive();
      if (waiters_.started_reads().serve(access, tuples_, wakes)) {
        // The read made room, so waiting moves may now be admitted.
        if (access.kind == Access::Kind::observe) settle(wakes);
      } else {
        if (error_mark_) throw Marked(*error_mark_);
        waiters_.started_reads().begin(access);
      }
    }
    return;
  } catch (...) {
    access.error = std::current_exception();
  }
  wakes.notify(access);
}

bool LocalElement::cancel(Access& access, std::string* lateness) {
  std::unique_ptr<Waiters::Move> given_up;  // destroyed after our mutex is unlocked
  runtime::Lock lock(mutex_);
  if (!access.is_waiting) return false;
  const bool is_move = access.kind == Access::Kind::move;
  if (lateness != nullptr)
    *lateness = is_move
                    ? waiters_.no_room(tuples_.last() - tuples_.first())
                    : waiters_.no_tuple(awaited_number(access.kind, access.number, tuples_.last()));
  if (is_move)
    given_up = waiters_.give_up(waiters_.move_of(access));
  else
    waiters_.started_reads().leave(access);
  return true;
}

void LocalElement::set_watcher(AnyChange& watcher, bool is_watching) {
  runtime::Lock lock(mutex_);
  waiters_.set_watcher(watcher, is_watching);
}

}  // namespace pastset
