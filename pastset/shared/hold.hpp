// SPDX-License-Identifier: Apache-2.0
// pastset/shared/hold.hpp — the two locks of an element in shared memory, held while it is used
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "pastset/shared/element.hpp"
#include "runtime/polling/moment.hpp"
#include "runtime/processes/between_processes.hpp"

namespace pastset {

/// Holds the two locks of a shared element. The mutex guards the waiters of this process. The lock
/// of the log is common to all processes. A thread releases the mutex while it waits for the lock
/// of the log. Other threads of the process can then also wait for that lock, each with its own
/// time limit, or do work that needs only the mutex.
class SharedElement::Hold {
 public:
  /// Which locks the constructor takes. `any` takes both locks. `live` takes both locks, and throws
  /// Deleted if the element is deleted. `ours` takes only the mutex.
  enum class Of : std::uint8_t { live, any, ours };
  explicit Hold(const SharedElement& element, Of of = Of::live)
      : element_(element), lock_(element.mutex_) {
    if (of == Of::any) take();
    if (of == Of::live) take_live();
  }
  ~Hold() { released_log(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  bool has_log() const { return has_log_; }
  void released_log() {
    if (std::exchange(has_log_, false)) element_.log_.let_go();
  }
  void let_go() {
    released_log();
    lock_.unlock();
  }
  /// Takes both locks. The mutex is held afterwards, even after an exception. A fiber that waits in
  /// take() lets other fibers of its OS thread run. Throws runtime::Stop if the fiber is cancelled
  /// while it waits.
  void take() {
    if (!try_take(element_.mapping_->lock_patience(), runtime::rest_fiber))
      throw element_.log_.held_for_long();
  }
  /// Tries for `patience` to take the lock of the log, and returns whether the log is locked. The
  /// mutex is held afterwards in either case. Calls `rest` between the attempts (see rest_fiber()).
  bool try_take(
      base::Nanos patience, bool (*rest)(base::Nanos) = [](base::Nanos) { return false; }) {
    if (!lock_.owns_lock()) lock_.lock();
    has_log_ = element_.log_.try_take(base::Nanos{0});
    if (!has_log_) {
      lock_.unlock();
      try {
        const base::Nanos end = runtime::steady_now() + patience;
        while (!has_log_ && runtime::steady_now() < end && rest(resting))
          has_log_ = element_.log_.try_take(base::Nanos{0});
        if (!has_log_)
          has_log_ = element_.log_.try_take(std::max(end - runtime::steady_now(), base::Nanos{0}));
      } catch (...) {
        lock_.lock();
        throw;
      }
      lock_.lock();
    }
    if (has_log_ && element_.moves_.has_withdrawn()) element_.moves_.free_withdrawn();
    return has_log_;
  }
  /// Tries for at most `patience` to lock the log, unless this object has locked it already. On
  /// return the mutex is held, and has_log() tells whether the log is locked. Ignores errors of the
  /// element, because operations that need the log detect them themselves.
  void try_take_quietly(base::Nanos patience) {
    try {
      if (!has_log_) try_take(patience);
    } catch (const ElementError&) {
    }
  }
  void take_live() {
    take();
    if (!element_.log_.is_deleted()) return;
    released_log();
    throw element_.waiters_.deleted();
  }
  /// Releases both locks and waits in `list`. Afterwards the mutex is held again, but the lock of
  /// the log is not.
  runtime::Woken wait(runtime::WaitList& list, runtime::Deadline deadline,
                      const runtime::Reason& reason) {
    element_.log_.users().listen();
    released_log();
    return element_.waiters_.wait(list, lock_, deadline, reason);
  }
  /// Releases both locks and polls the shared memory for a while before the thread sleeps. If the
  /// change happens during the polling, no other process has to wake this thread. Returns whether
  /// `word` has changed. Afterwards the mutex is held again, but the lock of the log is not.
  bool look(const std::atomic<std::uint32_t>& word, std::uint32_t seen, runtime::Deadline deadline,
            const runtime::Reason& reason) {
    const Waiters::Blocked blocked(element_.waiters_);
    let_go();
    const bool has_changed = runtime::look_at(word, seen, deadline, reason);
    lock_.lock();
    return has_changed;
  }

 private:
  static constexpr base::Nanos resting{1'000'000};
  const SharedElement& element_;
  runtime::Lock lock_;
  bool has_log_ = false;
};

}  // namespace pastset
