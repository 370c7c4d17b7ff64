// SPDX-License-Identifier: Apache-2.0
// pastset/waiters.hpp — threads, fibers and accesses of this process that wait in one element
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/payload.hpp"
#include "pastset/element.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// The lists of waiting contexts (OS threads or fibers) and accesses of one element, in process
/// memory or in shared memory. The element decides which waiter is next and which tuple it gets.
/// Private to elements.
///
/// Thread-safe: no.
/// Requires: the element's mutex is held in every call.
class Waiters {
 public:
  /// A move that waits for room while this object exists. The Move of a blocked context is a
  /// variable of that context. The Move of an Access is destroyed when the access is notified.
  struct Move {
    Move(Waiters& all, base::Payload to_store, std::uint32_t at = 0);
    ~Move();
    Move(const Move&) = delete;
    Move& operator=(const Move&) = delete;

    Waiters& among;
    base::Payload stored;
    const std::uint32_t
        place;  ///< index in the line: the queue of waiting moves of a shared element
    std::optional<std::uint64_t> number;  ///< number of the tuple, set once it is in the element
    std::exception_ptr error;             ///< reason why the tuple will never be moved
    runtime::WaitList waiting;
    Access* access = nullptr;  ///< access that waits; nullptr if a context is blocked
    bool is_waiting = true;
  };

  explicit Waiters(const Element& element) : element_(element) {}
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;
  /// Aborts if a context still waits or an AnyChange still watches the element. Accesses may still
  /// wait.
  void ensure_none() const;
  bool has_any() const;

  // ---- contexts

  /// While this object exists, counts one waiting context. A woken context is counted until it runs
  /// again.
  class Blocked {
   public:
    explicit Blocked(Waiters& all) : count_(++all.blocked_) {}
    ~Blocked() { --count_; }
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;

   private:
    std::size_t& count_;
  };
  runtime::WaitList& reads() { return reads_; }
  runtime::Woken wait(runtime::WaitList& list, runtime::Lock& lock, runtime::Deadline deadline,
                      const runtime::Reason& reason);
  void watch(AnyChange& watcher) { watchers_.push_back(&watcher); }
  void unwatch(AnyChange& watcher) { std::erase(watchers_, &watcher); }
  /// Wakes all blocked readers and notifies the watchers.
  void notify_changed(runtime::DeferredWakes& wakes) {
    reads_.wake_all(wakes);
    if (!watchers_.empty()) notify_watchers(wakes);
  }
  void wake_all(runtime::DeferredWakes& wakes);

  // ---- moves

  /// Returns the waiting moves in order of arrival.
  const std::deque<Move*>& moves() const { return moves_; }
  /// Starts the wait of an Access that moves a tuple. `move` then exists until the access is
  /// notified.
  void begin(std::unique_ptr<Move> move, Access& access);
  /// Ends the wait of a move whose number or error is set.
  void end(Move& move, runtime::DeferredWakes& wakes);
  /// Cancels a waiting move and returns it. The caller must destroy it after it has unlocked the
  /// mutex.
  std::unique_ptr<Move> give_up(Move& move);
  Move& move_of(const Access& access) const;
  std::vector<Move*> begun_moves() const;

  // ---- reads without a context

  bool has_begun_reads() const { return first_read_ != nullptr; }
  void begin(Access& read);
  void leave(Access& access);  ///< ends the wait of `access` without notify()
  void fail_reads(const std::exception_ptr& error, runtime::DeferredWakes& wakes);
  void fail(Access& access, std::exception_ptr error, runtime::DeferredWakes& wakes);
  void answer(Access& access, std::uint64_t number, runtime::DeferredWakes& wakes);
  /// Serves a read if its tuple exists; returns false if the read must wait. `tuples` is the
  /// element, as a LocalElement, SharedElement or SharedElementReader.
  template <class Tuples>
  bool serve(Access& read, Tuples& tuples, runtime::DeferredWakes& wakes);
  /// Serves every waiting read whose tuple exists. Returns whether it served at least one.
  template <class Tuples>
  bool serve_reads(Tuples& tuples, runtime::DeferredWakes& wakes);

  // ---- errors and messages

  Deleted deleted() const;
  Expired expired(std::uint64_t number, std::uint64_t oldest) const;
  std::string no_room(std::uint64_t unobserved) const;
  std::string no_tuple(std::uint64_t number) const;

 private:
  void notify_watchers(runtime::DeferredWakes& wakes);
  void leave(Move& move);
  const Element& element_;
  std::deque<Move*> moves_;
  runtime::WaitList reads_;
  Access* first_read_ = nullptr;
  Access* last_read_ = nullptr;
  std::size_t blocked_ = 0;
  std::vector<AnyChange*> watchers_;
};

template <class Tuples>
bool Waiters::serve(Access& read, Tuples& tuples, runtime::DeferredWakes& wakes) {
  Stored there;
  try {
    switch (read.kind) {
      case Access::Kind::observe:
        if (!tuples.has_unobserved()) return false;
        there = tuples.take_oldest();
        break;
      case Access::Kind::observe_number:
        if (!tuples.has(read.number)) return false;
        there = tuples.read_kept(read.number);
        break;
      default:
        if (!tuples.has_newest(read.number)) return false;
        there = tuples.read_newest();
    }
  } catch (...) {
    fail(read, std::current_exception(), wakes);
    return true;
  }
  read.tuple = std::move(there.payload);
  answer(read, there.number, wakes);
  return true;
}

template <class Tuples>
bool Waiters::serve_reads(Tuples& tuples, runtime::DeferredWakes& wakes) {
  bool has_served = false;
  for (Access* read = first_read_; read != nullptr;) {
    Access* const next = read->next;
    has_served |= serve(*read, tuples, wakes);
    read = next;
  }
  return has_served;
}

}  // namespace pastset
