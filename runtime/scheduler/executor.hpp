// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/executor.hpp — an OS thread that runs fibers on one of the two clocks
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/polling/polling.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/inbox.hpp"
#include "runtime/scheduler/os_thread.hpp"
#include "runtime/scheduler/reactor.hpp"
#include "runtime/scheduler/resumptions.hpp"
#include "runtime/scheduler/scheduler.hpp"
#include "runtime/scheduler/thread_pool.hpp"
#include "runtime/scheduler/timer_queue.hpp"
#include "runtime/scheduler/virtual_clock.hpp"

namespace runtime {

/// Runs contexts on one of the two clocks. All fibers of an executor run on one OS thread. On the
/// steady clock, the other contexts have OS threads of their own. The timers of Boost.Fiber always
/// use the steady clock. The executor therefore has its own timers. On the steady clock, poll()
/// fires these timers. On the virtual clock, idle() fires them. Private to runtime/.
class Executor final : private SchedulerOwner {
 public:
  explicit Executor(RuntimeOptions options);
  ~Executor();

  const RuntimeOptions options;
  Pollers pollers;
  Resumptions resumptions{*this};
  bool is_virtual() const { return options.clock == ClockKind::virtual_time; }
  bool is_deadlocked() const { return deadlock_ != nullptr; }
  Nanos now() const;
  Nanos roughly_now() const;
  std::uint64_t events() const { return clock_.events(); }
  /// Writes a line for each live context. May be called only on the executor's own OS thread, also
  /// by a signal handler.
  void write_contexts(int descriptor) const { scheduler_.live.write(descriptor); }
  /// Converts a time of this executor to the machine's steady clock. Steady clock only.
  Nanos on_steady_clock(Nanos when) const;
  /// Implements runtime::end_of(): returns the instant at which the deadline ends a wait.
  Nanos end_of(Deadline deadline) const {
    return deadline.written || !is_virtual() ? deadline.at : Nanos::max();
  }

  /// Runs `main` and everything that it spawns on the calling OS thread. Virtual clock only.
  void run_virtual(const std::function<void()>& main);
  /// Starts the OS thread of the services, which the destructor stops. Steady clock only.
  void start_services_thread();

  Task spawn(ContextRole role, ContextName name, std::function<void()> work);
  void begin(ContextRole role, ContextName name, std::size_t stack_bytes, Work& work);
  void post(std::function<void()> work);
  void post_unpark(Context& context);
  void watch(int descriptor, std::function<void()> on_readable);
  void unwatch(int descriptor);
  bool on_own_thread() const;
  /// Wakes `services`. Wakes `threads` after the services have run on this executor. If the caller
  /// is an application thread, it blocks until the services have run.
  void wake_in_order(std::vector<Context*> services, DeferredWakes::Threads threads);

  /// Begin and end a run. Contexts may start between the two calls. end_run() cancels and joins
  /// them. Steady clock only.
  void begin_run();
  void end_run();

  // Functions that Context calls, on the executor's own OS thread.
  void suspend_current() { scheduler_.suspend_current(); }
  void count_run(Context& context);
  void add_timer(Nanos at, Context& context, std::uint64_t wait) { timers_.add(at, context, wait); }

 private:
  Task spawn_with(ContextRole role, ContextName name, std::size_t stack_bytes,
                  std::function<void()> work);
  void begin_fiber(ContextRole role, ContextName name, std::size_t stack_bytes, Work& work);
  bool begin_again(ContextName name, Work& work);
  void launch_begun();
  void begin_os_thread(ContextName name, Work& work);
  std::exception_ptr run(Work& work);
  void end_services();
  void cancel_as_deadlock(const std::string& report);

  void poll() override;
  void idle() override;
  void notify() override;
  void run_work(Context& context) override;
  void none_lives() override;

  // Functions of the loop, on the executor's own OS thread.
  void run_posted();
  void jump_to_next_timer();
  void wake_later();

  Scheduler scheduler_{*this};
  TimerQueue timers_;
  VirtualClock clock_;                        // unused on the steady clock
  std::vector<std::function<void()>> later_;  // wake-ups to carry out once no fiber is ready
  std::exception_ptr deadlock_;
  std::atomic<bool> ending_{false};  // true while the run ends: no further context starts
  Inbox inbox_;

  std::chrono::steady_clock::time_point origin_;
  std::optional<Reactor> reactor_;  // empty on the virtual clock
  ThreadPool os_threads_;
  OsThread services_thread_;
  std::atomic<std::thread::id> own_thread_{};
  std::mutex no_fibers_mutex_;
  std::condition_variable no_fibers_;
  bool has_no_fibers_ = false;
  // True while end_services() waits. Only the executor's OS thread uses it.
  bool is_waited_for_ = false;
};

}  // namespace runtime
