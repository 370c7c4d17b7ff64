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
#include "pastset/started_reads.hpp"
#include "runtime/wait.hpp"

namespace pastset {

/// Returns the error for an operation on a deleted element.
Deleted deleted(const Element& element);
/// Returns the error for a read of a tuple that was freed.
Expired expired(const Element& element, std::uint64_t number, std::uint64_t oldest);

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
  /// Reports a bug (ENSURE) if a context still waits or an AnyChange still watches the element.
  /// Accesses may still wait.
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
  void set_watcher(AnyChange& watcher, bool is_watching);
  /// Wakes all blocked readers and notifies the watchers.
  void notify_changed(runtime::DeferredWakes& wakes) {
    reads_.wake_all(wakes);
    if (!watchers_.empty()) notify_watchers(wakes);
  }
  void wake_all(runtime::DeferredWakes& wakes);
  /// Fails all accesses that wait.
  void fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes);

  // ---- moves

  /// Returns the waiting moves in order of arrival.
  const std::deque<Move*>& moves() const { return moves_; }
  /// Starts the wait of an Access that moves a tuple. `move` then exists until the access is
  /// notified.
  void begin(std::unique_ptr<Move> move, Access& access);
  /// Ends the wait of a move whose number or error is set.
  void end(Move& move, runtime::DeferredWakes& wakes);
  /// Cancels a waiting move and returns it. The caller must unlock the mutex before it destroys the
  /// move.
  std::unique_ptr<Move> give_up(Move& move);
  Move& move_of(const Access& access) const;
  std::vector<Move*> begun_moves() const;

  // ---- reads without a context

  StartedReads& started_reads() { return started_reads_; }
  bool has_started_reads() const { return !started_reads_.empty(); }

  // ---- errors and messages

  Deleted deleted() const { return pastset::deleted(element_); }
  std::string no_room(std::uint64_t unobserved) const;
  std::string no_tuple(std::uint64_t number) const;

 private:
  void notify_watchers(runtime::DeferredWakes& wakes);
  void leave(Move& move);
  const Element& element_;
  std::deque<Move*> moves_;
  runtime::WaitList reads_;
  StartedReads started_reads_;
  std::size_t blocked_ = 0;
  std::vector<AnyChange*> watchers_;
};

}  // namespace pastset
