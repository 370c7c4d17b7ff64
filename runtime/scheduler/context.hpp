// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/context.hpp — one thing that runs: a fiber or an OS thread, which can park.
#pragma once
#include <atomic>
#include <boost/fiber/context.hpp>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>

#include "runtime/runtime.hpp"
#include "runtime/scheduler/busy_poll_scope.hpp"
#include "runtime/scheduler/futex.hpp"
#include "runtime/scheduler/polling.hpp"
#include "runtime/scheduler/stack_guard.hpp"

namespace runtime {

class Executor;

/// Beginnings and ends of a fiber's waits. A timer of an earlier wait may still read the count when
/// the context belongs to another executor.
class WaitCount {
 public:
  std::uint64_t value() const { return count_.load(std::memory_order_relaxed); }
  bool is_waiting() const { return value() % 2 == 1; }
  /// Begins or ends a wait. Only the fiber's own OS thread may call it.
  void change() { count_.store(value() + 1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

/// Private to runtime/. Contexts are never freed but used again, so that a wake-up that comes
/// late, for a wait that has already ended, finds memory and is a spurious one: every park() is
/// in a loop that looks at what it waits for.
class Context {
 public:
  /// The calling context; an OS thread that the runtime did not start gets one on first use.
  /// Null in the callbacks of an executor, which must not block.
  static Context* current();
  static void set_current(Context* context);
  static Executor& executor_of(const Runtime& runtime) { return *runtime.executor_; }
  /// For an OS thread that its maker gives one to, so that it needs no memory to begin.
  static Context* take_for_thread();
  /// By the OS thread that has it.
  static void give_back_of_thread(Context& context);
  /// Of one that the runtime did not start, which ends: it may be a visitor still (Visit).
  static void leave_at_end(Context& context);
  static void give_back_of_ended(Context& context);
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  /// Null, too, where none was ever made. For a signal handler.
  static const Context* running() noexcept;

  /// Blocks until unpark() (or one that came since the last park) or `until`, on the clock of
  /// the context. False when the time has come. `reason` is shown in deadlock reports.
  bool park(Nanos until, const Reason& reason);
  /// The same for whom only the time or a cancel will wake: an OS thread does not look before it
  /// sleeps.
  bool sleep(Nanos until, const Reason& reason);
  /// For an OS thread: blocks until the word is no longer what was seen, or unpark().
  bool park_at(Futex& futex, std::uint32_t seen, Nanos until, const Reason& reason);
  /// For a service's fiber on the steady clock: others run, and descriptors are looked at, before
  /// it goes on.
  void yield();
  /// Any thread may call.
  void unpark();
  /// From now on every wait throws `reason` (Cancelled when null).
  void cancel(std::exception_ptr reason);
  void throw_if_cancelled();
  /// While it lives, the waits of the calling context do not see that the context is cancelled.
  ///
  /// Why: a destructor that waits for a context which uses the destroyed object may not give up.
  class CancelShield {
   public:
    explicit CancelShield(Context& self) : self_(self) { ++self_.shields_; }
    ~CancelShield() { --self_.shields_; }
    CancelShield(const CancelShield&) = delete;
    CancelShield& operator=(const CancelShield&) = delete;

   private:
    Context& self_;
  };
  /// A cancel that came too late is not the next owner's.
  void forget_cancel();
  /// By which an attentive thread looks; null: it is not. For the thread alone.
  Pollers::Looking* attention();
  /// It does not look any more, until its next wait.
  void lapse() { looking_.reset(); }

  Executor* executor = nullptr;  ///< of a fiber: who runs it; of an OS thread: whose clock it uses
  bool is_fiber = false;
  ContextName name;
  ContextRole role = ContextRole::thread;
  StackBounds stack;

 private:
  friend class BusyPollScope;
  friend class Executor;
  friend class LiveContexts;
  friend class Scheduler;
  friend class TimerQueue;
  bool park_fiber(Nanos until, const Reason& reason);
  bool park_thread(Nanos until, const Reason& reason, bool may_poll);
  bool wait_at(Futex& futex, std::uint32_t seen, Nanos until, const Reason& reason, bool may_poll);
  void unpark_fiber();  // on the executor's own OS thread
  void make_ready();    // likewise
  bool sees_cancel() const;

  // Of a fiber; touched on its executor's OS thread only, except that timers read `waits_`.
  WaitCount waits_;
  boost::fibers::context* fiber_ = nullptr;
  bool timed_out_ = false;
  bool token_ = false;
  const Reason* reason_ = nullptr;
  Work* work_ = nullptr;       // none: it is to leave
  bool from_outside_ = false;  // begun by another thread, which cannot take a fiber that is idle
  std::uint64_t instant_ = 0;  // the executor's, in which it ran so often:
  std::uint64_t runs_ = 0;
  Context* previous_ = nullptr;  // in LiveContexts
  Context* next_ = nullptr;

  // Of an OS thread.
  Futex* futex_ = nullptr;                 // changes with each unpark()
  std::uint32_t seen_ = 0;                 // of it, by the last park()
  std::atomic<Futex*> waits_at_{nullptr};  // another one
  std::atomic<bool> has_ended_{false};     // while it visited
  int attentions_ = 0;
  std::optional<Pollers::Looking> looking_;  // while it is attentive, but for its sleeps

  std::atomic<bool> cancelled_{false};
  std::mutex cancel_mutex_;
  std::exception_ptr cancel_reason_;
  int stops_ = 0;    // thrown since it was cancelled
  int shields_ = 0;  // CancelShields that live; used by the context alone
};

/// What Task handles share.
struct Task::State final : Work {
  Mutex mutex;
  WaitList joiners;
  bool done = false;
  std::exception_ptr error;
  std::function<void()> work;
  std::shared_ptr<State> self;  // while it runs
  void stop(std::exception_ptr reason);
  /// Cancels the work and blocks until it has ended.
  void end();

 private:
  void run() override { work(); }
  void ended(std::exception_ptr error) override;
};

}  // namespace runtime
