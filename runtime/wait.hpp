// SPDX-License-Identifier: Apache-2.0
// runtime/wait.hpp — the only way to block: a list of waiters guarded by a mutex
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "runtime/thread_sanitizer.hpp"

namespace runtime {

using base::Nanos;

/// A mutex that guards state for a few instructions. A thread or fiber never holds a Mutex while
/// blocked: WaitList::wait() releases it. A Mutex may be destroyed once it is unlocked, even if its
/// last user has not returned from unlock(). If the mutex is held, lock() polls for slightly longer
/// than a few instructions and then sleeps.
///
/// Why: unlock() is a plain store, because an atomic exchange would wait until all earlier stores
///   are visible. unlock() can therefore miss a thread that falls asleep at the same time. Such a
///   thread sleeps for 1 ms and then retries. See also show_unlocked().
class Mutex {
 public:
  Mutex() = default;
#ifdef PATHS_TSAN  // without PATHS_TSAN, static mutexes need no destructor
  ~Mutex() { thread_sanitizer::forget_mutex(this); }
#endif
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    thread_sanitizer::lock_mutex(this);
    if (!take()) lock_slowly();
    thread_sanitizer::locked_mutex(this);
  }
  bool try_lock() {
    thread_sanitizer::try_mutex(this);
    const bool is_taken = take();
    thread_sanitizer::tried_mutex(this, is_taken);
    return is_taken;
  }
  void unlock() {
    thread_sanitizer::unlock_mutex(this);
    const bool has_sleepers = sleepers_.load(std::memory_order_relaxed) != 0;
    state_.store(free, std::memory_order_release);
    thread_sanitizer::unlocked_mutex(this);
    if (has_sleepers) wake_one(&state_);
  }

 private:
  static constexpr std::uint32_t free = 0, held = 1;
  bool take() {
    std::uint32_t expected = free;
    return state_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void lock_slowly();
  static void wake_one(const void* state);
  std::atomic<std::uint32_t> state_{free};
  std::atomic<std::uint32_t> sleepers_{0};
};

/// Orders an unlock before the reads that follow it. Usage: a thread whose try_lock() fails leaves
/// its work to the holder of the mutex. The holder unlocks, calls this function, and checks for
/// such work. Either try_lock() finds the mutex unlocked, or the holder sees the work.
inline void show_unlocked() { thread_sanitizer::order_all(); }
using Lock = std::unique_lock<Mutex>;

class Context;
class Futex;

/// Instant at which a wait ends, on the runtime's clock.
///
/// A written deadline is set in the config, and may pass in an ordinary run. A default deadline
/// only prevents endless waits on the steady clock. On the virtual clock a default deadline has no
/// effect, because a wait that nothing can end is reported as a deadlock there.
struct Deadline {
  Nanos at = Nanos::max();
  bool written = false;
  static Deadline never() { return {}; }
  static Deadline written_at(Nanos at) { return {at, true}; }
  static Deadline default_at(Nanos at) { return {at, false}; }
};

/// Event for which a context (OS thread or fiber) waits, as named in deadlock reports:
/// {"contributions of round", "sum.alpha-0", 17}. The views must outlive the wait.
struct Reason {
  std::string_view what;
  std::string_view subject = {};
  std::uint64_t number = 0;
};

enum class Woken : std::uint8_t { notified, expired };

/// Exception that a wait throws if its context must end. It is not a std::exception, so code that
/// handles ordinary errors does not catch it. Every later wait of the context throws it again at
/// once. If the code keeps catching the Stop and waiting, the process ends with a message.
class Stop {
 public:
  explicit Stop(std::string what) : what_(std::move(what)) {}
  virtual ~Stop() = default;
  const char* what() const noexcept { return what_.c_str(); }

 private:
  std::string what_;
};

/// The context was cancelled. Only the owner of the context's work catches it.
class Cancelled : public Stop {
 public:
  Cancelled() : Stop("cancelled") {}
  using Stop::Stop;
};

/// The run on the virtual clock cannot make progress. If no context can ever wake, what() lists the
/// waits. If time stands still while contexts run, what() lists the most active contexts.
class Deadlock : public Stop {
 public:
  using Stop::Stop;
};

/// An object that is notified of an event, for code that waits without a context. The context that
/// causes the event calls notify(), after it has unlocked its mutex.
///
/// Owns: nothing. The object must exist until its notify() is called. Each
///   DeferredWakes::notify(waiter) leads to one call of waiter.notify().
class Waiter {
 protected:
  ~Waiter() = default;
  /// Handles the event. Must not block. The object may be destroyed as soon as notify() is called.
  virtual void notify() noexcept = 0;

 private:
  friend class DeferredWakes;
  Waiter* next_waiter_ = nullptr;
};

/// Wake-ups that are decided under a mutex and carried out after it is unlocked. Declare it before
/// the Lock, so that it is destroyed after the Lock.
///
/// Why: a thread that is woken while the mutex is locked would immediately block on the mutex. With
///   more OS threads than cores, this costs milliseconds.
/// Order: the destructor first notifies the Waiters, then wakes service contexts, then application
///   threads. A caller calls services_first() before the destructor runs if replies to other hosts
///   are more urgent than the caller's own work.
class DeferredWakes {
 public:
  DeferredWakes() = default;
  ~DeferredWakes() {  ///< never blocks
    if (!empty()) carry_out();
  }
  void notify(Waiter& one);
  /// Notifies the waiters, then wakes the service contexts, which reply to other hosts. Wakes the
  /// application threads after the services have run. If the caller is an application thread, it
  /// blocks until the services have run. (Bongo et al. 2004, §VI-A: a local thread woken first
  /// delayed the last reply by up to 30 ms.)
  /// Requires: the mutex is unlocked.
  void services_first();
  DeferredWakes(const DeferredWakes&) = delete;
  DeferredWakes& operator=(const DeferredWakes&) = delete;
  bool empty() const { return first_waiter_ == nullptr && futex_ == nullptr && others_.empty(); }
  struct Threads;

 private:
  friend class WaitList;
  struct One {
    Context* fiber = nullptr;
    Futex* futex = nullptr;  // futex of an OS thread; nullptr for a fiber
    bool is_service = false;
    void wake() const;
  };
  void add(Context& fiber);
  void add(Futex& futex);
  void carry_out();
  void notify_all();
  std::vector<Context*> take_services();
  Waiter* first_waiter_ = nullptr;
  Waiter* last_waiter_ = nullptr;
  Futex* futex_ = nullptr;  // first futex to wake; further ones are in others_
  std::vector<One> others_;
};

/// Application threads to wake after services. Private to runtime/.
struct DeferredWakes::Threads {
  Futex* futex = nullptr;
  std::vector<One> others;
  void wake() const;
};

/// A list of blocked contexts that are woken together: fibers in first-in, first-out order, OS
/// threads all at once.
///
/// Requires: a mutex of the owner is held in every call. wait() receives the held lock.
class WaitList {
 public:
  WaitList() = default;
  ~WaitList();
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  /// Unlocks `lock`, blocks until woken or until the deadline has passed, and locks `lock` again.
  /// Returns `notified` if wake_all() has woken the caller, otherwise `expired`.
  /// Throws: the Stop with which the context is cancelled. The lock is then held, and the waiter is
  ///   removed from the list.
  Woken wait(Lock& lock, Deadline deadline, const Reason& reason);

  void wake_all(DeferredWakes& wakes);
  bool empty() const { return first_ == nullptr && threads_ == 0; }

 private:
  struct Place;  // entry of a waiting fiber, stored on its stack
  Woken wait_in_line(Context& self, Lock& lock, Nanos until, const Reason& reason);
  Woken wait_at_futex(Context& self, Lock& lock, Nanos until, const Reason& reason);
  void remove(Place& place);
  Place* first_ = nullptr;
  Place* last_ = nullptr;
  Futex* futex_ = nullptr;  // futex on which OS threads wait; nullptr before the first wait
  std::uint32_t threads_ = 0;
  std::uint32_t wakes_ = 0;
};

}  // namespace runtime
