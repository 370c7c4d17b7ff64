// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/context.hpp — a fiber or an OS thread that can park
#pragma once
#include <atomic>
#include <boost/fiber/context.hpp>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>

#include "runtime/polling/busy_poll_scope.hpp"
#include "runtime/polling/futex.hpp"
#include "runtime/polling/polling.hpp"
#include "runtime/runtime.hpp"
#include "runtime/stacks/stack_guard.hpp"

namespace runtime {

class Executor;

/// Counts the beginnings and ends of a fiber's waits. A timer compares the count with an earlier
/// value, to find out whether the wait of this timer has ended. That works even after another
/// executor has reused the context.
class WaitCount {
 public:
  std::uint64_t value() const { return count_.load(std::memory_order_relaxed); }
  bool is_waiting() const { return value() % 2 == 1; }
  /// Begins or ends a wait. Only the fiber's own OS thread may call it.
  void change() { count_.store(value() + 1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

/// A fiber or an OS thread that can block in park() and be woken by unpark(). Contexts are never
/// freed but reused. A late wake-up, which arrives after the end of its wait, therefore accesses
/// valid memory and is only spurious. Every park() is in a loop that checks its condition. Private
/// to runtime/.
class Context {
 public:
  /// Returns the calling context. An OS thread that the runtime did not start gets a context on
  /// first use. Returns nullptr in the callbacks of an executor, which must not block.
  static Context* current();
  static void set_current(Context* context);
  static Executor& executor_of(const Runtime& runtime) { return *runtime.executor_; }
  /// Returns a context for a new OS thread. The creator of the new thread calls it, so that the new
  /// thread needs no allocation at its start.
  static Context* take_for_thread();
  /// Frees the context for reuse. The OS thread that has the context calls it.
  static void give_back_of_thread(Context& context);
  /// Detaches the context from an ending OS thread that the runtime did not start. Frees the
  /// context for reuse, unless a ThreadAttachment still uses it.
  static void leave_at_end(Context& context);
  /// Frees the context for reuse after its OS thread has ended. The ThreadAttachment that used the
  /// context calls it.
  static void give_back_of_ended(Context& context);
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  /// Returns the calling context without creating one; nullptr if there is none. Safe in a signal
  /// handler.
  static const Context* running() noexcept;

  /// Blocks until unpark() or until the time `until`, on the context's clock. Returns immediately
  /// if unpark() was called since the last park(). Returns false if the time was reached. `reason`
  /// appears in deadlock reports.
  bool park(Nanos until, const Reason& reason);
  /// Like park(), for waits that only time or a cancel will end. An OS thread does not poll before
  /// such a sleep.
  bool sleep(Nanos until, const Reason& reason);
  /// Blocks an OS thread until the value of `futex` differs from `seen`, or until unpark().
  bool park_at(Futex& futex, std::uint32_t seen, Nanos until, const Reason& reason);
  /// Runs other services, and handles readable descriptors, before the calling fiber continues.
  /// Only for fibers of services on the steady clock.
  void yield();
  /// Wakes the context. Any thread may call it.
  void unpark();
  /// Makes every wait from now on throw `reason` (nullptr = Cancelled).
  void cancel(std::exception_ptr reason);
  void throw_if_cancelled();
  /// While this object exists, the waits of the calling context ignore a cancel.
  ///
  /// Why: a destructor may wait until another context no longer uses the object. A cancel must not
  ///   end that wait early.
  class CancelShield {
   public:
    explicit CancelShield(Context& self) : self_(self) { ++self_.shields_; }
    ~CancelShield() { --self_.shields_; }
    CancelShield(const CancelShield&) = delete;
    CancelShield& operator=(const CancelShield&) = delete;

   private:
    Context& self_;
  };
  /// Discards a cancel that arrived after the end of the work, so that it does not affect the next
  /// work of the context.
  void forget_cancel();
  /// Returns the polling registration of the OS thread that has this context; nullptr outside of a
  /// BusyPollScope. Only that thread calls it.
  Pollers::Looking* attention();
  /// Ends the polling registration. The thread's next wait registers it again.
  void lapse() { looking_.reset(); }

  Executor* executor = nullptr;  ///< executor that runs the fiber or gives the thread its clock
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
  friend class VirtualClock;
  bool park_fiber(Nanos until, const Reason& reason);
  bool park_thread(Nanos until, const Reason& reason, bool may_poll);
  bool wait_at(Futex& futex, std::uint32_t seen, Nanos until, const Reason& reason, bool may_poll);
  void unpark_fiber();  // may be called only on the executor's own OS thread
  void make_ready();    // may be called only on the executor's own OS thread
  bool sees_cancel() const;

  // Members of a fiber. Only its executor's OS thread uses them, but any timer may read `waits_`.
  WaitCount waits_;
  boost::fibers::context* fiber_ = nullptr;
  bool timed_out_ = false;
  bool token_ = false;
  const Reason* reason_ = nullptr;
  Work* work_ = nullptr;       // work to run next; nullptr = the fiber must end
  bool from_outside_ = false;  // true = another OS thread started the fiber, so it is never reused
  std::uint64_t instant_ = 0;  // VirtualClock::instant() of the last run
  std::uint64_t runs_ = 0;
  Context* previous_ = nullptr;  // neighbours in the list LiveContexts
  Context* next_ = nullptr;

  // Members of an OS thread.
  Futex* futex_ = nullptr;                 // its value changes with each unpark()
  std::uint32_t seen_ = 0;                 // value of `*futex_` when the last park() ended
  std::atomic<Futex*> waits_at_{nullptr};  // futex of a park_at() in progress
  std::atomic<bool> has_ended_{false};  // true = the thread has ended while attached to a runtime
  int attentions_ = 0;
  std::optional<Pollers::Looking>
      looking_;  // polling registration in a BusyPollScope; empty while the thread sleeps

  std::atomic<bool> cancelled_{false};
  std::mutex cancel_mutex_;
  std::exception_ptr cancel_reason_;
  int stops_ = 0;    // number of exceptions thrown since the cancel
  int shields_ = 0;  // number of live CancelShields; only this context uses it
};

/// State that the handles of a Task share.
struct Task::State final : Work {
  Mutex mutex;
  WaitList joiners;
  bool done = false;
  std::exception_ptr error;
  std::function<void()> work;
  std::shared_ptr<State> self;  // keeps this object alive while the work runs
  void stop(std::exception_ptr reason);
  void end();

 private:
  void run() override { work(); }
  void ended(std::exception_ptr error) override;
};

}  // namespace runtime
