// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/executor.hpp — start and end of contexts, and the loop of their OS thread
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "runtime/polling/polling.hpp"
#include "runtime/scheduler/clock.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/inbox.hpp"
#include "runtime/scheduler/resumptions.hpp"
#include "runtime/scheduler/scheduler.hpp"
#include "runtime/scheduler/services_thread.hpp"
#include "runtime/scheduler/thread_pool.hpp"

namespace runtime {

/// Runs contexts. All fibers of an executor run on one OS thread. On the steady clock, the other
/// contexts have OS threads of their own. The timers of Boost.Fiber always use real time. The
/// executor therefore has a Clock with timers of its own. Private to runtime/.
class Executor final : private SchedulerOwner {
 public:
  /// On the steady clock, starts the OS thread of the services, which the destructor stops.
  explicit Executor(RuntimeOptions options);
  ~Executor();

  const RuntimeOptions options;
  Pollers pollers;
  Resumptions resumptions{*this};
  Clock& clock() const { return *clock_; }
  /// Returns whether contexts run at the same time, on several OS threads.
  bool is_parallel() const { return os_threads_.has_value(); }
  bool on_own_thread() const { return scheduler_.runs_on_caller(); }

  /// Runs `main` and everything that it spawns. If the executor is not parallel, all of that runs
  /// on the calling OS thread.
  void run(const std::function<void()>& main);
  /// Begin and end a run. Contexts may start between the two calls. end_run() cancels and joins
  /// them.
  /// Requires: the executor is parallel.
  void begin_run();
  void end_run();

  Task spawn(ContextRole role, ContextName name, std::size_t stack_bytes,
             std::function<void()> work);
  void begin(ContextRole role, ContextName name, std::size_t stack_bytes, Work& work);
  void post(std::function<void()> work);
  void post_unpark(Context& context);
  /// Runs other fibers until the calling fiber is made ready.
  void suspend_current() { scheduler_.suspend_current(); }

 private:
  /// The OS threads of an executor that is parallel.
  struct OsThreads {
    explicit OsThreads(Executor& executor)
        : pool(executor.options.stack_bytes), services(executor, executor.scheduler_) {}
    ThreadPool pool;
    ServicesThread services;
  };

  void run_on_caller(const std::function<void()>& main);
  void begin_fiber(ContextRole role, ContextName name, std::size_t stack_bytes, Work& work);
  bool begin_again(ContextName name, Work& work);
  void launch_begun();
  void begin_os_thread(ContextName name, Work& work);
  std::exception_ptr run(Work& work);

  void poll() override;
  void idle() override;
  void notify() override;
  void run_work(Context& context) override;
  void none_lives() override;

  Scheduler scheduler_{*this};
  std::atomic<bool> is_ending_{false};  // true while the run ends: no further context starts
  Inbox inbox_;
  const std::unique_ptr<Clock> clock_;
  std::optional<OsThreads> os_threads_;  // empty on the virtual clock
};

}  // namespace runtime
