// SPDX-License-Identifier: Apache-2.0
// pastset/local_element.cpp — the log of an element, who waits for it, and who watches it.
#include "pastset/local_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "pastset/any_change.hpp"
#include "pastset/x_function_call.hpp"

namespace pastset {

/// Stands in line from its making to its end; whoever makes room appends the tuple for it, so
/// that the order of the line, not that of waking up, is the order of the log.
struct LocalElement::Mover {
  Mover(std::deque<Mover*>& in_line, base::Payload to_store)
      : line(in_line), stored(std::move(to_store)) {
    line.push_back(this);
  }
  ~Mover() {
    if (!number) std::erase(line, this);
  }
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  std::deque<Mover*>& line;
  base::Payload stored;
  std::optional<std::uint64_t> number;  // once admitted
  runtime::WaitList waiting;
  Access* access = nullptr;  // who stands here without a context
};

LocalElement::LocalElement(std::string name, Template tuple_template, ElementOptions options)
    : Element(std::move(name), std::move(tuple_template)),
      x_function_(std::move(options.x_function)),
      delta_(options.delta),
      keep_newest_(options.keep_newest) {}

LocalElement::~LocalElement() {
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  fail_all(std::make_exception_ptr(deleted()), wakes);
  ENSURE_EQ(blocked_, 0u);
  ENSURE(watchers_.empty());
}

std::uint64_t LocalElement::move(const base::Payload& payload, runtime::Deadline deadline) {
  refuse_x_function(name());
  base::Payload stored = to_store(*this, x_function_, payload);
  base::Payload dropped;  // a payload's release function never runs under our mutex
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  if (!movers_.empty() || !has_room()) {
    return move_when_admitted(std::move(stored), lock, deadline);
  }
  const std::uint64_t number = append(std::move(stored), wakes);
  dropped = drop_beyond_newest();
  serve_waiting(wakes);
  return number;
}

std::uint64_t LocalElement::move_when_admitted(base::Payload stored, runtime::Lock& lock,
                                               runtime::Deadline deadline) {
  Mover mover(movers_, std::move(stored));
  wait(mover.waiting, lock, deadline, {"room in element", name(), next_number()});
  if (mover.number) return *mover.number;
  ensure_alive();
  throw DeadlinePassed(no_room());
}

std::string LocalElement::no_room() const {
  return fmt::format("element '{}': no room before the deadline, {} unobserved", name(),
                     next_number() - first_);
}

std::string LocalElement::no_tuple(std::uint64_t number) const {
  return fmt::format("element '{}': no tuple {} before the deadline", name(), number);
}

Stored LocalElement::observe(runtime::Deadline deadline) {
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  wait_until([&] { return first_ < next_number() || error_mark_; }, lock, deadline, next_number());
  if (first_ == next_number()) throw Marked(*error_mark_);
  Stored oldest = take_oldest(wakes);
  serve_waiting(wakes);
  return oldest;
}

std::optional<Stored> LocalElement::try_observe() {
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  if (first_ == next_number()) return std::nullopt;
  Stored oldest = take_oldest(wakes);
  serve_waiting(wakes);
  return oldest;
}

Stored LocalElement::observe(std::uint64_t number, runtime::Deadline deadline) {
  runtime::Lock lock = lock_alive();
  wait_until([&] { return number < next_number() || error_mark_; }, lock, deadline, number);
  if (number >= next_number()) throw Marked(*error_mark_);
  return read_kept(number);
}

Stored LocalElement::newest(std::uint64_t from, runtime::Deadline deadline) {
  runtime::Lock lock = lock_alive();
  wait_until([&] { return has_newest(from) || error_mark_; }, lock, deadline,
             std::max(from, next_number()));
  if (!has_newest(from)) throw Marked(*error_mark_);
  return read(next_number() - 1);
}

std::optional<Stored> LocalElement::try_newest() const {
  runtime::Lock lock = lock_alive();
  if (!has_newest(0)) return std::nullopt;
  return read(next_number() - 1);
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
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  delta_ = delta;
  admit_movers(wakes);
  serve_waiting(wakes);
}

void LocalElement::axe(std::uint64_t number) {
  std::vector<base::Payload> freed;  // released after our mutex
  runtime::Lock lock = lock_alive();
  while (oldest_ < first_ && oldest_ <= number) {
    freed.push_back(kept_.take_front());
    ++oldest_;
  }
}

void LocalElement::delete_element() {
  refuse_x_function(name());
  base::Ring<base::Payload> freed;  // released after our mutex
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  if (deleted_) return;
  deleted_ = true;
  freed.swap(kept_);
  readers_.wake_all(wakes);
  for (Mover* mover : movers_) mover->waiting.wake_all(wakes);
  tell_changed(wakes);
  fail_all(std::make_exception_ptr(deleted()), wakes);
}

bool LocalElement::is_deleted() const {
  refuse_x_function(name());
  runtime::Lock lock(mutex_);
  return deleted_;
}

void LocalElement::mark_error(const std::string& error) {
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  if (error_mark_) return;
  error_mark_ = error;
  readers_.wake_all(wakes);
  tell_changed(wakes);
  fail_readers(std::make_exception_ptr(Marked(error)), wakes);
}

std::optional<std::string> LocalElement::error_mark() const {
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

/// Axe may have freed even the newest tuple, once it was observed.
bool LocalElement::has_newest(std::uint64_t from) const {
  return !kept_.empty() && from < next_number();
}

/// Under the mutex, so that a throwing X-function leaves `first` where it was.
Stored LocalElement::read(std::uint64_t number) const {
  return {number, from_stored(*this, x_function_, kept_[number - oldest_])};
}

Stored LocalElement::read_kept(std::uint64_t number) const {
  if (number >= oldest_) return read(number);
  throw Expired(fmt::format("element '{}': tuple {} is gone, the oldest kept is {}", name(), number,
                            oldest_));
}

Stored LocalElement::take_oldest(runtime::Wakes& wakes) {
  Stored oldest = read(first_);
  ++first_;
  admit_movers(wakes);
  return oldest;
}

std::uint64_t LocalElement::append(base::Payload stored, runtime::Wakes& wakes) {
  const std::uint64_t number = next_number();
  kept_.push_back(std::move(stored));
  readers_.wake_all(wakes);
  tell_changed(wakes);
  return number;
}

base::Payload LocalElement::drop_beyond_newest() {
  if (keep_newest_ == 0 || kept_.size() <= keep_newest_) return {};
  base::Payload dropped = kept_.take_front();
  ++oldest_;
  first_ = std::max(first_, oldest_);
  return dropped;
}

void LocalElement::admit_movers(runtime::Wakes& wakes) {
  while (!movers_.empty() && has_room()) {
    Mover& mover = *movers_.front();
    mover.number = append(std::move(mover.stored), wakes);
    movers_.pop_front();
    mover.waiting.wake_all(wakes);
    if (mover.access == nullptr) continue;
    answer(*mover.access, *mover.number, wakes);
    delete &mover;
  }
}

template <class There>
void LocalElement::wait_until(There there, runtime::Lock& lock, runtime::Deadline deadline,
                              std::uint64_t number) {
  while (!there()) {
    const runtime::Woken woken =
        wait(readers_, lock, deadline, {"tuple of element", name(), number});
    ensure_alive();
    if (woken == runtime::Woken::expired && !there()) {
      throw DeadlinePassed(no_tuple(number));
    }
  }
}

runtime::Woken LocalElement::wait(runtime::WaitList& list, runtime::Lock& lock,
                                  runtime::Deadline deadline, const runtime::Reason& reason) {
  struct Blocked {
    std::size_t& count;
    explicit Blocked(std::size_t& blocked) : count(++blocked) {}
    ~Blocked() { --count; }
  } blocked(blocked_);
  return list.wait(lock, deadline, reason);
}

// ---- those that wait without a context --------------------------------------------------------

void LocalElement::begin(Access& access) {
  refuse_x_function(name());
  base::Payload dropped;  // released after our mutex
  runtime::Wakes wakes;
  try {
    if (access.kind == Access::Kind::move) {
      base::Payload stored = to_store(*this, x_function_, access.tuple);
      const runtime::Lock lock = lock_alive();
      begin_move(access, std::move(stored), dropped, wakes);
    } else {
      const runtime::Lock lock = lock_alive();
      if (serve(access, wakes)) {
        // Who moved into the room that it made.
        if (access.kind == Access::Kind::observe) serve_waiting(wakes);
      } else {
        if (error_mark_) throw Marked(*error_mark_);
        wait_in_line(access);
      }
    }
    return;
  } catch (...) {
    access.error = std::current_exception();
  }
  wakes.tell(access);
}

void LocalElement::begin_move(Access& access, base::Payload stored, base::Payload& dropped,
                              runtime::Wakes& wakes) {
  if (movers_.empty() && has_room()) {
    const std::uint64_t number = append(std::move(stored), wakes);
    dropped = drop_beyond_newest();
    answer(access, number, wakes);
    serve_waiting(wakes);
    return;
  }
  auto mover = std::make_unique<Mover>(movers_, std::move(stored));
  mover->access = &access;
  access.is_waiting = true;
  mover.release();  // the line's
}

/// Called with the mutex held, as are the following. False when it has to wait.
bool LocalElement::serve(Access& access, runtime::Wakes& wakes) {
  Stored there;
  try {
    switch (access.kind) {
      case Access::Kind::observe:
        if (first_ == next_number()) return false;
        there = take_oldest(wakes);
        break;
      case Access::Kind::observe_number:
        if (access.number >= next_number()) return false;
        there = read_kept(access.number);
        break;
      default:
        if (!has_newest(access.number)) return false;
        there = read(next_number() - 1);
    }
  } catch (...) {
    fail(access, std::current_exception(), wakes);
    return true;
  }
  access.tuple = std::move(there.payload);
  answer(access, there.number, wakes);
  return true;
}

/// Reads that are served make room, and who moves into that serves reads.
void LocalElement::serve_waiting(runtime::Wakes& wakes) {
  for (bool has_served = true; has_served;) {
    has_served = false;
    for (Access* access = first_reader_; access != nullptr;) {
      Access* const next = access->next;
      has_served |= serve(*access, wakes);
      access = next;
    }
  }
}

void LocalElement::wait_in_line(Access& access) {
  access.is_waiting = true;
  access.next = nullptr;
  access.previous = last_reader_;
  (last_reader_ != nullptr ? last_reader_->next : first_reader_) = &access;
  last_reader_ = &access;
}

void LocalElement::leave_line(Access& access) {
  if (!std::exchange(access.is_waiting, false) || access.kind == Access::Kind::move) return;
  (access.previous != nullptr ? access.previous->next : first_reader_) = access.next;
  (access.next != nullptr ? access.next->previous : last_reader_) = access.previous;
}

void LocalElement::answer(Access& access, std::uint64_t number, runtime::Wakes& wakes) {
  leave_line(access);
  access.number = number;
  wakes.tell(access);
}

void LocalElement::fail(Access& access, std::exception_ptr error, runtime::Wakes& wakes) {
  leave_line(access);
  access.error = std::move(error);
  wakes.tell(access);
}

void LocalElement::fail_readers(const std::exception_ptr& error, runtime::Wakes& wakes) {
  while (first_reader_ != nullptr) fail(*first_reader_, error, wakes);
}

void LocalElement::fail_all(const std::exception_ptr& error, runtime::Wakes& wakes) {
  fail_readers(error, wakes);
  const std::deque<Mover*> movers = movers_;
  for (Mover* mover : movers) {
    if (mover->access == nullptr) continue;
    fail(*mover->access, error, wakes);
    delete mover;
  }
}

bool LocalElement::cancel(Access& access) {
  base::Payload released;  // after our mutex
  runtime::Lock lock(mutex_);
  if (!access.is_waiting) return false;
  leave_line(access);
  if (access.kind != Access::Kind::move) return true;
  const auto standing = std::find_if(movers_.begin(), movers_.end(),
                                     [&](const Mover* mover) { return mover->access == &access; });
  const std::unique_ptr<Mover> mover(*standing);
  released = std::move(mover->stored);
  return true;
}

std::string LocalElement::lateness(const Access& access) const {
  runtime::Lock lock(mutex_);
  switch (access.kind) {
    case Access::Kind::move: return no_room();
    case Access::Kind::observe_number: return no_tuple(access.number);
    default: return no_tuple(std::max(access.number, next_number()));
  }
}

void LocalElement::watch(AnyChange& watcher) {
  runtime::Lock lock(mutex_);
  watchers_.push_back(&watcher);
}

void LocalElement::unwatch(AnyChange& watcher) {
  runtime::Lock lock(mutex_);
  std::erase(watchers_, &watcher);
}

void LocalElement::tell_changed(runtime::Wakes& wakes) {
  for (AnyChange* watcher : watchers_) watcher->tell(*this, wakes);
}

void LocalElement::ensure_alive() const {
  if (deleted_) throw deleted();
}

Deleted LocalElement::deleted() const {
  return Deleted(fmt::format("element '{}' was deleted", name()));
}

}  // namespace pastset
