// SPDX-License-Identifier: Apache-2.0
// runtime/wait.hpp — the one way to block: a list of waiters guarded by a mutex.
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

/// Guards state for a few instructions; never held while blocking (WaitList::wait lets it go). Who
/// finds it held looks a little longer than those take before he sleeps.
///
/// Why:  to unlock is a plain store, as processors wait for an atomic exchange until all that was
///       stored before has come to its place. So who unlocks may rarely miss who falls asleep just
///       then, and who sleeps looks again after a while; and see show_unlocked().
/// Ends: may go as soon as it is unlocked, even if its last user has not returned from unlock().
class Mutex {
 public:
  Mutex() = default;
  ~Mutex() { thread_sanitizer::forget_mutex(this); }
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

/// For one who has unlocked a mutex and now looks for what others left who tried to lock it and
/// went away: either they find it unlocked, or what they left is seen.
inline void show_unlocked() { thread_sanitizer::order_all(); }
using Lock = std::unique_lock<Mutex>;

class Context;
class Futex;

/// Until when a wait may last, on the runtime's clock.
///
/// A deadline that a person wrote in the config is an event like any other. A default one is only
/// a safety net: on the virtual clock, where nothing is ever late by accident, it does not exist,
/// and what it would have caught is reported as a deadlock instead.
struct Deadline {
  Nanos at = Nanos::max();
  bool written = false;
  static Deadline never() { return {}; }
  static Deadline written_at(Nanos at) { return {at, true}; }
  static Deadline default_at(Nanos at) { return {at, false}; }
};

/// Who waits for what, for the deadlock report: {"contributions of round", "sum.alpha-0", 17}.
/// The views must outlive the wait.
struct Reason {
  std::string_view what;
  std::string_view subject = {};
  std::uint64_t number = 0;
};

enum class Woken : std::uint8_t { notified, expired };

/// What a wait throws when its context has to end. No error of the program's own, and so no
/// std::exception: code that goes on after any error it knows does not go on after this one. Every
/// later wait of the context throws it again, at once; who catches it all the same and keeps
/// waiting ends the process, with words.
class Stop {
 public:
  explicit Stop(std::string what) : what_(std::move(what)) {}
  virtual ~Stop() = default;
  const char* what() const noexcept { return what_.c_str(); }

 private:
  std::string what_;
};

/// The context was told to stop. Nobody but the owner of the context's work catches it.
class Cancelled : public Stop {
 public:
  Cancelled() : Stop("cancelled") {}
  using Stop::Stop;
};

/// On the virtual clock: a state in which nobody can ever wake, what() lists who waits for what;
/// or one in which time does not pass any more however much happens, what() lists what does.
class Deadlock : public Stop {
 public:
  using Stop::Stop;
};

/// Who is told, without a context to be woken, that what he waits for has happened: by whoever made
/// it happen, in that one's context, under no mutex.
///
/// Sharing: once for each time it is given to Wakes; until then its memory stays.
class Waiter {
 protected:
  ~Waiter() = default;
  /// Must not block. From here on it may go.
  virtual void notify() noexcept = 0;

 private:
  friend class DeferredWakes;
  Waiter* next_waiter_ = nullptr;
};

/// Wake-ups decided under a mutex and carried out after it is unlocked: declare it before the
/// Lock, so that it is destroyed after it.
///
/// Why:   waking under the mutex makes the woken run into it; between OS threads that costs
///        milliseconds once there are more threads than cores.
/// Order: who is told, then all others at once; who owes other hosts a reply says services_first().
class DeferredWakes {
 public:
  DeferredWakes() = default;
  ~DeferredWakes() {  ///< never blocks
    if (!empty()) carry_out();
  }
  void notify(Waiter& one);
  /// Carries them out, the mutex being unlocked: those who are told, service contexts, whose
  /// replies leave for other hosts, and threads of the application only when those had their turn
  /// (Bongo et al. 2004, §VI-A: a local thread woken first delayed the last reply by up to 30 ms).
  /// A thread that calls this is one of them, and blocks until then.
  void services_first();
  DeferredWakes(const DeferredWakes&) = delete;
  DeferredWakes& operator=(const DeferredWakes&) = delete;
  bool empty() const { return first_waiter_ == nullptr && futex_ == nullptr && others_.empty(); }

 private:
  friend class WaitList;
  friend class Executor;
  struct One {
    Context* fiber = nullptr;
    Futex* futex = nullptr;  // if it is no fiber
    bool is_service = false;
    void wake() const;
  };
  /// Those of the application.
  struct Threads {
    Futex* futex = nullptr;
    std::vector<One> others;
    void wake() const;
  };
  void add(Context& fiber);
  void add(Futex& futex);
  void carry_out();
  void notify_all();
  std::vector<Context*> take_services();
  Waiter* first_waiter_ = nullptr;
  Waiter* last_waiter_ = nullptr;
  Futex* futex_ = nullptr;  // of OS threads; mostly there is but one
  std::vector<One> others_;
};

/// Blocked contexts, which are woken together: fibers first come first served, OS threads all at
/// once. Guarded by a mutex of its owner, who passes the held lock to wait() and holds it in every
/// other call.
class WaitList {
 public:
  WaitList() = default;
  ~WaitList();
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  /// Lets `lock` go, blocks until woken or the deadline has passed, holds `lock` again.
  /// Never returns `notified` unless wake_all() took this waiter off the list.
  /// Throws what the context was cancelled with (lock held, waiter off the list): a Stop.
  Woken wait(Lock& lock, Deadline deadline, const Reason& reason);

  void wake_all(DeferredWakes& wakes);
  bool empty() const { return first_ == nullptr && threads_ == 0; }

 private:
  struct Place;  // of a fiber, on its stack
  Woken wait_in_line(Context& self, Lock& lock, Nanos until, const Reason& reason);
  Woken wait_at_futex(Context& self, Lock& lock, Nanos until, const Reason& reason);
  void remove(Place& place);
  Place* first_ = nullptr;
  Place* last_ = nullptr;
  Futex* futex_ = nullptr;  // of OS threads, once there was one
  std::uint32_t threads_ = 0;
  std::uint32_t wakes_ = 0;
};

}  // namespace runtime
