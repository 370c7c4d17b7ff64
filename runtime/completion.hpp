// SPDX-License-Identifier: Apache-2.0
// runtime/completion.hpp — one-time events, and a wait for any or all of several
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace runtime {

template <class T>
class Handle;
class WaitSet;

/// A one-time event, such as the end of an operation or the arrival of a message. It carries no
/// result. The object that has the result also provides the completion: a Handle, for example, by
/// its function completion().
///
/// Why: a context (OS thread or fiber) can start several operations and wait for them together,
///   without one context per operation.
/// Owns: nothing. The code that completes it and the contexts that wait for it share the object.
/// Thread-safe: yes.
/// Blocks: only in wait().
class Completion {
 public:
  Completion() = default;
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  bool done() const { return done_.load(std::memory_order_acquire); }
  /// Marks the event as happened and wakes the waiters. Must be called exactly once. The completion
  /// must exist until the call returns. A caller that holds a mutex passes `wakes`, and destroys
  /// `wakes` after it has unlocked the mutex. The waiters are then woken only at that time.
  void complete();
  void complete(DeferredWakes& wakes);
  /// Blocks until the event has happened. Returns false if the deadline, on the caller's clock,
  /// passed first.
  /// Throws: the Stop with which the context is cancelled.
  bool wait(Deadline deadline, const Reason& reason);

 private:
  friend class WaitSet;
  struct Watch;  // membership of a completion in one WaitSet

  Mutex mutex_;
  std::atomic<bool> done_{false};
  WaitList waiting_;  // contexts that are blocked in Completion::wait(), not in a WaitSet
  Watch* first_ = nullptr;
};

/// A set of completions, its members. One context waits for the event of any member, or for the
/// events of all members. The cost of any() and of completing a member does not depend on the size
/// of the set.
///
/// Usage: add() each started operation. any() returns each member once, in the order in which they
///   were completed.
/// Owns: a reference to each completion, until any() has returned or remove() has removed the
///   member. The destructor cancels nothing.
/// Thread-safe: no, one OS thread or fiber at a time. The runtime need not have started that OS
///   thread. Any thread may complete the completions.
/// Blocks: any() and all(), without polling and without a context per member.
/// Throws: the Stop with which the context is cancelled; the set is then unchanged. UsageError as
///   documented below. Also UsageError if a thread outside the run waits on a virtual clock.
class WaitSet {
 public:
  /// Creates an empty set. Deadlines are on the clock of `runtime`, which must outlive the set.
  explicit WaitSet(const Runtime& runtime);
  ~WaitSet();
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;

  /// Adds a member and returns its number in the set. Numbers start at 0 and are never reused.
  std::size_t add(std::shared_ptr<Completion> completion);
  /// Adds the completion of an operation under way (runtime/handle.hpp).
  template <class T>
  std::size_t add(const Handle<T>& handle) {
    return add(handle.completion());
  }
  /// Removes a member. Does nothing if any() has already returned it.
  void remove(std::size_t member);

  /// Returns the number of members that any() has not returned yet.
  std::size_t size() const { return members_.size(); }
  /// Blocks until the event of any member has happened. Removes that member from the set and
  /// returns its number. Returns nullopt if the deadline passed first. Throws UsageError if the set
  /// is empty.
  std::optional<std::size_t> any(Deadline deadline = Deadline::never());
  /// Like any(), but never blocks. Returns nullopt if no member's event has happened.
  std::optional<std::size_t> try_any();
  /// Blocks until the events of all members have happened. Removes no member. Returns false if the
  /// deadline passed first.
  bool all(Deadline deadline = Deadline::never());

 private:
  friend class Completion;
  using Watch = Completion::Watch;
  using Members = std::unordered_map<std::size_t, std::unique_ptr<Watch>>;
  class OnClock;
  void tell(Watch& watch, DeferredWakes& wakes);
  std::size_t take_first();
  void let_go(Members::iterator member);
  bool wait(WaitList& list, Lock& lock, Deadline deadline);

  const Runtime& runtime_;
  Members members_;                       // members that any() has not returned yet
  std::vector<Members::node_type> kept_;  // nodes for reuse, so that steady use allocates no memory
  std::size_t next_member_ = 0;
  Mutex mutex_;  // guards the data members below, which any thread may change
  WaitList any_, all_;
  Watch* first_ = nullptr;  // list of members whose event has happened
  Watch* last_ = nullptr;
  std::size_t pending_ = 0;  // number of members whose event has not happened
};

}  // namespace runtime
