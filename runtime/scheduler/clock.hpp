// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/clock.hpp — the passing of time for an executor
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "base/units.hpp"
#include "runtime/scheduler/timer_queue.hpp"
#include "runtime/wait.hpp"

namespace runtime {

class Context;

/// Tells an executor the time, and decides what its OS thread does while no fiber is ready. Private
/// to runtime/.
///
/// Thread-safe: any thread may call now(), roughly_now(), utc_at_zero(), on_steady_clock(),
///              end_of(), notify(), watch() and wake_in_order(). Only the executor's OS thread
///              calls the other functions.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual Nanos now() const = 0;
  virtual Nanos roughly_now() const = 0;
  virtual Nanos utc_at_zero() const = 0;
  /// Converts a time of this clock to the machine's steady clock. Steady clock only.
  virtual Nanos on_steady_clock(Nanos when) const = 0;
  /// Implements runtime::end_of(): returns the instant at which the deadline ends a wait.
  virtual Nanos end_of(Deadline deadline) const = 0;

  /// Called before the work of a run begins.
  virtual void begin_run() = 0;
  /// Called whenever a context starts or continues.
  virtual void count_run(Context& context) = 0;
  /// Returns how often contexts have run; 0 on the steady clock, which does not count.
  virtual std::uint64_t events() const = 0;
  /// Returns the deadlock that ended the run; nullptr if there was none.
  virtual std::exception_ptr deadlock() const = 0;

  /// Does what is due by now. Called while no fiber is current. Does not block.
  virtual void poll() = 0;
  /// Lets time pass until something is due or notify() is called. Called while no fiber is ready.
  virtual void idle() = 0;
  /// Makes idle() return.
  virtual void notify() = 0;

  /// Calls `on_readable` from poll() and idle() whenever `descriptor` may be readable. Steady clock
  /// only.
  virtual void watch(int descriptor, std::function<void()> on_readable) = 0;
  virtual void unwatch(int descriptor) = 0;

  /// Wakes `services`. Wakes `threads` after the services have run on this executor. If the caller
  /// is an application thread with an OS thread of its own, it blocks until the services have run.
  virtual void wake_in_order(std::vector<Context*> services, DeferredWakes::Threads threads) = 0;

  TimerQueue timers;  ///< ends waits at times of this clock
};

}  // namespace runtime
