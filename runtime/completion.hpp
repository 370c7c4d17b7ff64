// SPDX-License-Identifier: Apache-2.0
// runtime/completion.hpp — something that happens once, and waiting for any or all of several.
#pragma once
#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace runtime {

class WaitSet;

/// Happens once: an operation ends, a tuple is there, a message has come. What came of it is with
/// whoever has this (an operation's state is one, and its handle tells its completion()).
///
/// Why:     several things can so be under way, and be waited for together, without a context for
///          each of them.
/// Owns:    nothing; shared by whoever makes it happen and whoever waits.
/// Sharing: any thread may call anything at any time.
/// Blocks:  only in wait().
class Completion {
 public:
  Completion() = default;
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  bool done() const { return done_.load(std::memory_order_acquire); }
  /// It has happened. Once; the caller owns a share of it until this returns. Who holds a mutex of
  /// his own passes the wake-ups that he carries out after it.
  void complete();
  void complete(DeferredWakes& wakes);
  /// Blocks until it has happened; false when the deadline, which is on the caller's clock, has
  /// passed first. Throws what the context is cancelled with: a Stop.
  bool wait(Deadline deadline, const Reason& reason);

 private:
  friend class WaitSet;
  struct Watch;  // of one set

  Mutex mutex_;
  std::atomic<bool> done_{false};
  WaitList waiting_;  // for this one only
  Watch* first_ = nullptr;
};

/// Completions that one context waits for together: for any of them, as they come, or for all.
/// Whoever completes one does work that does not grow with the set, nor does any().
///
/// Usage:   add() what was begun; any() tells of each once, in the order in which they happened.
/// Owns:    a share of each completion until any() has told of it, or remove(). Dropping the set
///          changes nothing about what is under way.
/// Sharing: one context's at a time, which may be an OS thread that the runtime did not start; the
///          completions may come from anywhere.
/// Blocks:  any() and all(), without polling and without a context for each member.
/// Throws:  what the context is cancelled with: a Stop; the set stays as it is. UsageError as said
///          below, and from waiting on a virtual clock in a thread that does not run by it.
class WaitSet {
 public:
  /// Deadlines are on the clock of this runtime, which outlives the set.
  explicit WaitSet(const Runtime& runtime);
  ~WaitSet();
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;

  /// Answers its number, counted from 0 and never used again.
  std::size_t add(std::shared_ptr<Completion> completion);
  /// What has a completion: a handle of an operation, of a read.
  template <class Handle>
  requires requires(const Handle& handle) {
    { handle.completion() } -> std::convertible_to<std::shared_ptr<Completion>>;
  }
  std::size_t add(const Handle& handle) {
    return add(std::shared_ptr<Completion>(handle.completion()));
  }
  /// Any() will not tell of it; nothing when it has.
  void remove(std::size_t member);

  /// Members that any() has not told of.
  std::size_t size() const { return members_.size(); }
  /// Blocks until some member has happened that was not told of before, and tells of it; nothing
  /// when the deadline has passed first. Throws UsageError when there is no such member.
  std::optional<std::size_t> any(Deadline deadline = Deadline::never());
  /// The same without waiting.
  std::optional<std::size_t> try_any();
  /// Blocks until all members have happened, and tells of none; false when the deadline has passed
  /// first.
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
  Members members_;                       // that any() has not told of
  std::vector<Members::node_type> kept_;  // of members to come, so that steady use takes no memory
  std::size_t next_member_ = 0;
  Mutex mutex_;  // guards what follows
  WaitList any_, all_;
  Watch* first_ = nullptr;  // of those that have happened
  Watch* last_ = nullptr;
  std::size_t pending_ = 0;  // those that have not
};

}  // namespace runtime
