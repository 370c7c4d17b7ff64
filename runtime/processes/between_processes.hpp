// SPDX-License-Identifier: Apache-2.0
// runtime/processes/between_processes.hpp — locks and wake-ups between processes in shared memory
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/wait.hpp"

namespace runtime {

// Objects in shared memory contain no pointers. A faulty process may overwrite them at any time, so
// code checks every value that it reads there.

/// Polls until `futex` differs from `seen`, or until further polling would probably cost more than
/// a sleep. Returns whether the value has changed. Returns false immediately in a fiber, and in a
/// runtime with Waiting::sleep. The deadline is on the caller's clock. `processes` is the number of
/// processes that wait for each other with this futex. If it exceeds the number of cores, the
/// caller yields its core at once, because another process needs the core in order to arrive.
bool look_at(const std::atomic<std::uint32_t>& futex, std::uint32_t seen, Deadline deadline,
             const Reason& reason, int processes = 1);

/// If the caller is a fiber, suspends it for `span` and lets other contexts of its OS thread run.
/// Returns whether the caller is a fiber. Throws the Stop with which the context is cancelled.
bool rest_fiber(Nanos span);

/// Identity of a process of this machine. The kernel may reuse a pid, but the new process has a
/// different start time.
struct ProcessIdentity {
  std::uint32_t pid = 0;
  std::uint64_t started = 0;  ///< start time in clock ticks since the machine started
  static ProcessIdentity of(std::uint32_t pid);
  static ProcessIdentity of_caller();
  /// Whether the process runs. A zombie counts as dead. A process whose state is unknown, for
  /// example because no descriptor is free, counts as alive.
  bool is_alive() const;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// A bell: an object in shared memory that wakes one process after a change. Zeroed memory is a
/// valid bell.
struct SharedBell {
  std::atomic<std::uint32_t> rings;
  std::atomic<std::uint32_t> is_asleep;  ///< 1 while the process that owns the bell sleeps
  void ring();  ///< wakes the process; any process may call it; never blocks
};

/// A mutex in shared memory that is held for a few instructions. If a holder dies, the next process
/// gets the lock, and lock() returns `holder_died`. Zeroed memory is an unlocked mutex.
///
/// Why: a robust mutex of the C library stores pointers in the shared memory and follows them in
///   unlock. An invalid write of one process would then crash a different process.
/// Blocks: while other processes hold the lock, for at most `patience` for each holder in turn.
class SharedLock {
 public:
  class Holders {
   public:
    /// Whether the process with this number is alive. A waiter calls this function if that process
    /// holds the lock for long. The number of a dead process must not be reused soon: the process
    /// with the reused number would seem to hold the locks of the dead process.
    virtual bool lives(std::uint32_t holder) const = 0;

   protected:
    ~Holders() = default;
  };
  enum class Found : std::uint8_t {
    clean,
    holder_died,  ///< locked; the last holder died, possibly in the middle of a change
    stuck,        ///< not locked by this call: a live process holds the lock
  };
  /// Locks. `me` is the caller's number, below 2^30. With a patience of 0 the call polls briefly
  /// and never sleeps.
  Found lock(std::uint32_t me, const Holders& holders, Nanos patience);
  void unlock();
  /// Makes the lock available to other processes if `dead`, a process that has died, holds it.
  void leave_for(std::uint32_t dead);
  /// Returns the number of the process that holds the lock now; nullopt if no process does.
  std::optional<std::uint32_t> holder() const;

 private:
  Found lock_slowly(std::uint32_t me, const Holders& holders, Nanos patience);
  // 0 = free. Otherwise the holder's number + 1 or, if the holder has died, the bit `died`. The bit
  // `sleepers` is also set while processes sleep until the lock is free.
  std::atomic<std::uint32_t> futex_;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Two OS threads of this process that sleep in the kernel. The first thread handles a bell. The
/// second thread detects the ends of other processes.
class BellThreads {
 public:
  /// Starts the threads. They call `rung` and `ended` outside of any runtime; neither may throw.
  /// `rung` is called once at the start, after each ring, and at least every second. `ended` is
  /// called only for processes passed to listen_for(). If `ended` returns false, it is called again
  /// for the same process later.
  BellThreads(SharedBell& bell, std::function<void()> rung,
              std::function<bool(ProcessIdentity)> ended);
  ~BellThreads();  ///< blocks until both threads have ended; must not be called from them
  BellThreads(const BellThreads&) = delete;
  BellThreads& operator=(const BellThreads&) = delete;
  /// Replaces the list of processes whose end is reported to `ended`. A process that has already
  /// ended is reported too.
  void listen_for(std::vector<ProcessIdentity> processes);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

/// An OS thread that polls for changes that no process reports to it. It polls only from begin()
/// until `look` returns false.
class LookingThread {
 public:
  /// Calls `look` on the thread, outside of any runtime, at the interval `every`. `look` must not
  /// throw, and returns whether polling is still needed.
  LookingThread(Nanos every, std::function<bool()> look);
  ~LookingThread();  ///< must not run on the thread of this object
  LookingThread(const LookingThread&) = delete;
  LookingThread& operator=(const LookingThread&) = delete;
  void begin();  ///< starts polling; any thread may call it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace runtime
