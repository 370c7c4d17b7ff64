// SPDX-License-Identifier: Apache-2.0
// pastset/local_element.cpp — operations of an element in process memory
#include "pastset/local_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "pastset/any_change.hpp"
#include "pastset/x_function_call.hpp"

namespace pastset {

LocalElement::LocalElement(std::string name, Template tuple_template, ElementOptions options)
    : Element(std::move(name), std::move(tuple_template)),
      x_function_(std::move(options.x_function)),
      delta_(options.delta),
      keep_newest_(options.keep_newest) {}

LocalElement::~LocalElement() {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  fail_all(std::make_exception_ptr(waiters_.deleted()), wakes);
  waiters_.ensure_none();
}

std::uint64_t LocalElement::move(const base::Payload& payload, runtime::Deadline deadline) {
  refuse_x_function(name());
  base::Payload stored = to_store(*this, x_function_, payload);
  // Release functions must not run under our mutex, so payloads are destroyed after the unlock.
  base::Payload dropped;
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  if (!waiters_.moves().empty() || !has_room())
    return move_when_admitted(std::move(stored), lock, deadline);
  const std::uint64_t number = append(std::move(stored), wakes);
  dropped = drop_beyond_newest();
  settle(wakes);
  return number;
}

/// Waits for room. The context that makes room also appends the waiting tuple. The tuples are
/// therefore in the order of the queue, even if the waiting contexts wake up in a different order.
std::uint64_t LocalElement::move_when_admitted(base::Payload stored, runtime::Lock& lock,
                                               runtime::Deadline deadline) {
  Waiters::Move move(waiters_, std::move(stored));
  waiters_.wait(move.waiting, lock, deadline, {"room in element", name(), next_number()});
  if (move.number) return *move.number;
  ensure_alive();
  throw DeadlinePassed(waiters_.no_room(next_number() - first_));
}

Stored LocalElement::observe(runtime::Deadline deadline) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  wait_until([&] { return has_unobserved() || error_mark_; }, lock, deadline, next_number());
  if (!has_unobserved()) throw Marked(*error_mark_);
  Stored oldest = take_oldest();
  settle(wakes);
  return oldest;
}

std::optional<Stored> LocalElement::try_observe() {
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  if (!has_unobserved()) return std::nullopt;
  Stored oldest = take_oldest();
  settle(wakes);
  return oldest;
}

Stored LocalElement::observe(std::uint64_t number, runtime::Deadline deadline) {
  runtime::Lock lock = lock_alive();
  wait_until([&] { return has(number) || error_mark_; }, lock, deadline, number);
  if (!has(number)) throw Marked(*error_mark_);
  return read_kept(number);
}

Stored LocalElement::newest(std::uint64_t from, runtime::Deadline deadline) {
  runtime::Lock lock = lock_alive();
  wait_until([&] { return has_newest(from) || error_mark_; }, lock, deadline,
             std::max(from, next_number()));
  if (!has_newest(from)) throw Marked(*error_mark_);
  return read_newest();
}

std::optional<Stored> LocalElement::try_newest() const {
  runtime::Lock lock = lock_alive();
  if (!has_newest(0)) return std::nullopt;
  return read_newest();
}

std::uint64_t LocalElement::first() const {
  runtime::Lock lock = lock_alive();
  return first_;
}

std::uint64_t LocalElement::last() const {
  runtime::Lock lock = lock_alive();
  return next_number();
}

std::uint64_t LocalElement::delta() const {
  runtime::Lock lock = lock_alive();
  return delta_;
}

void LocalElement::set_delta(std::uint64_t delta) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock = lock_alive();
  delta_ = delta;
  settle(wakes);
}

void LocalElement::axe(std::uint64_t number) {
  std::vector<base::Payload> freed;  // destroyed after our mutex is unlocked
  runtime::Lock lock = lock_alive();
  while (oldest_ < first_ && oldest_ <= number) {
    freed.push_back(kept_.take_front());
    ++oldest_;
  }
}

void LocalElement::delete_element() {
  refuse_x_function(name());
  base::Ring<base::Payload> freed;  // destroyed after our mutex is unlocked
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  if (deleted_) return;
  deleted_ = true;
  freed = std::exchange(kept_, {});
  waiters_.wake_all(wakes);
  waiters_.notify_changed(wakes);
  fail_all(std::make_exception_ptr(waiters_.deleted()), wakes);
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
  ensure_alive();
  return lock;
}

bool LocalElement::has_room() const {
  return keep_newest_ > 0 || delta_ == 0 || next_number() - first_ < delta_;
}

/// Whether a tuple exists whose number is at least `from`. axe() may have freed even the newest
/// tuple, if it was observed.
bool LocalElement::has_newest(std::uint64_t from) const {
  return !kept_.empty() && from < next_number();
}

/// Runs the X-function under the mutex, before the caller advances `first_`. If it throws, nothing
/// has changed.
Stored LocalElement::read(std::uint64_t number) const {
  return {number, from_stored(*this, x_function_, kept_[number - oldest_])};
}

Stored LocalElement::read_kept(std::uint64_t number) const {
  if (number >= oldest_) return read(number);
  throw waiters_.expired(number, oldest_);
}

Stored LocalElement::take_oldest() {
  Stored oldest = read(first_);
  ++first_;
  return oldest;
}

std::uint64_t LocalElement::append(base::Payload stored, runtime::DeferredWakes& wakes) {
  const std::uint64_t number = next_number();
  kept_.push_back(std::move(stored));
  waiters_.notify_changed(wakes);
  return number;
}

base::Payload LocalElement::drop_beyond_newest() {
  if (keep_newest_ == 0 || kept_.size() <= keep_newest_) return {};
  base::Payload dropped = kept_.take_front();
  ++oldest_;
  first_ = std::max(first_, oldest_);
  return dropped;
}

bool LocalElement::admit_moves(runtime::DeferredWakes& wakes) {
  bool has_admitted = false;
  for (; !waiters_.moves().empty() && has_room(); has_admitted = true) {
    Waiters::Move& move = *waiters_.moves().front();
    move.number = append(std::move(move.stored), wakes);
    waiters_.end(move, wakes);
  }
  return has_admitted;
}

template <class There>
void LocalElement::wait_until(There there, runtime::Lock& lock, runtime::Deadline deadline,
                              std::uint64_t number) {
  while (!there()) {
    const runtime::Woken woken =
        waiters_.wait(waiters_.reads(), lock, deadline, {"tuple of element", name(), number});
    ensure_alive();
    if (woken == runtime::Woken::expired && !there())
      throw DeadlinePassed(waiters_.no_tuple(number));
  }
}

// ---- accesses without a context ---------------------------------------------------------------

void LocalElement::begin(Access& access) {
  refuse_x_function(name());
  base::Payload dropped;  // destroyed after our mutex is unlocked
  runtime::DeferredWakes wakes;
  try {
    if (access.kind == Access::Kind::move) {
      base::Payload stored = to_store(*this, x_function_, access.tuple);
      const runtime::Lock lock = lock_alive();
      begin_move(access, std::move(stored), dropped, wakes);
    } else {
      const runtime::Lock lock = lock_alive();
      if (waiters_.started_reads().serve(access, *this, wakes)) {
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

void LocalElement::begin_move(Access& access, base::Payload stored, base::Payload& dropped,
                              runtime::DeferredWakes& wakes) {
  if (waiters_.moves().empty() && has_room()) {
    const std::uint64_t number = append(std::move(stored), wakes);
    dropped = drop_beyond_newest();
    answer(access, number, wakes);
    settle(wakes);
    return;
  }
  waiters_.begin(std::make_unique<Waiters::Move>(waiters_, std::move(stored)), access);
}

/// Serves waiting accesses until none can be served any more. The loop is necessary because a
/// served read makes room for moves, and an admitted move provides a tuple for reads.
void LocalElement::settle(runtime::DeferredWakes& wakes) {
  for (bool goes_on = !waiters_.moves().empty() || waiters_.has_started_reads(); goes_on;) {
    goes_on = admit_moves(wakes);
    goes_on |= waiters_.started_reads().serve_all(*this, wakes);
  }
}

void LocalElement::fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes) {
  waiters_.started_reads().fail_all(error, wakes);
  for (Waiters::Move* move : waiters_.begun_moves()) {
    move->error = error;
    waiters_.end(*move, wakes);
  }
}

bool LocalElement::cancel(Access& access) {
  std::unique_ptr<Waiters::Move> given_up;  // destroyed after our mutex is unlocked
  runtime::Lock lock(mutex_);
  if (!access.is_waiting) return false;
  if (access.kind == Access::Kind::move)
    given_up = waiters_.give_up(waiters_.move_of(access));
  else
    waiters_.started_reads().leave(access);
  return true;
}

std::string LocalElement::lateness(const Access& access) const {
  runtime::Lock lock(mutex_);
  switch (access.kind) {
    case Access::Kind::move: return waiters_.no_room(next_number() - first_);
    case Access::Kind::observe_number: return waiters_.no_tuple(access.number);
    default: return waiters_.no_tuple(std::max(access.number, next_number()));
  }
}

void LocalElement::watch(AnyChange& watcher) {
  runtime::Lock lock(mutex_);
  waiters_.watch(watcher);
}

void LocalElement::unwatch(AnyChange& watcher) {
  runtime::Lock lock(mutex_);
  waiters_.unwatch(watcher);
}

void LocalElement::ensure_alive() const {
  if (deleted_) throw waiters_.deleted();
}

}  // namespace pastset
