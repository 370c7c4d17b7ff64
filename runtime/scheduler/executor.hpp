// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/executor.hpp — an OS thread that runs fibers by one of the two clocks.
#pragma once
#include <atomic>
#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/scheduler.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/continuation.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/os_thread.hpp"
#include "runtime/scheduler/polling.hpp"
#include "runtime/scheduler/stack_switch.hpp"

namespace runtime {

/// Private to runtime/. Boost.Fiber sleeps on the steady clock by name, so time has its one home
/// here: our own queue of timers, looked at only where Boost.Fiber has nothing ready
/// (suspend_until).
class Executor {
 public:
  explicit Executor(RuntimeOptions options);
  ~Executor();

  const RuntimeOptions options;
  Pollers pollers;
  bool is_virtual() const { return options.clock == ClockKind::virtual_time; }
  bool is_deadlocked() const { return deadlock_ != nullptr; }
  bool runs_fibers() const { return is_virtual() || options.service_fibers; }
  Nanos now() const;
  Nanos roughly_now() const;
  std::uint64_t events() const { return earlier_runs_ + runs_; }
  /// Writes a line for each live context. On the executor's own OS thread, also in a signal
  /// handler.
  void write_contexts(int descriptor) const;
  std::chrono::steady_clock::time_point origin() const { return origin_; }

  /// virtual clock: runs `main` and everything it spawns on the calling OS thread.
  void run_virtual(const std::function<void()>& main);
  /// steady clock: the OS thread of the services, from construction to destruction.
  void start_services_thread();
  void stop_services_thread();

  Task spawn(ContextRole role, ContextName name, std::function<void()> work);
  void begin(ContextRole role, ContextName name, std::size_t stack_bytes, Work& work);
  void resume(Continuation& continuation);
  void post(std::function<void()> work);
  void post_unpark(Context& context);
  void watch(int descriptor, std::function<void()> on_readable);
  void unwatch(int descriptor);
  bool on_own_thread() const;
  /// Wakes services, and the threads (of which the caller becomes one) when the services have had
  /// their turn on this executor.
  void wake_in_order(std::vector<Context*> services, Wakes::Threads threads);

  /// steady clock: from now on contexts may begin; and what run() owes to those that have.
  void begin_run();
  void end_run();

  // For contexts, on the executor's own OS thread.
  void suspend_current();
  void count_run(Context& context);
  void make_ready(Context& context);
  void add_timer(Nanos at, Context& context, std::uint64_t park_count);

 private:
  class Algorithm;
  class Resumption;
  struct Timer {
    Nanos at;
    std::uint64_t order;
    Context* context;
    std::uint64_t park_count;
    bool is_awaited() const;
    bool operator>(const Timer& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  /// An OS thread of ours, and what it works at.
  struct Worker {
    Work* work = nullptr;
    Context* context = nullptr;
    OsThread thread;
    std::list<Worker>::iterator place;
  };

  Task spawn_with(ContextRole role, ContextName name, std::size_t stack_bytes,
                  std::function<void()> work);
  void begin_fiber(ContextRole role, ContextName name, std::size_t stack_bytes, Work& work);
  bool begin_again(ContextName name, Work& work);
  void launch_begun();
  void begin_os_thread(ContextRole role, ContextName name, Work& work);
  void launch_fiber(Context& context);
  void run_fiber(Context& context);
  void run_work_of(Context& context);
  bool wait_for_work(Context& context);
  void dismiss_idle();
  void run_os_thread(Worker& worker);
  static void forget(Context& context);
  std::exception_ptr run(Work& work);
  std::list<Worker> take_ended();
  static void join(std::list<Worker> ended);
  void end_os_threads();
  void end_services();
  void tell_no_fibers();
  void link(Context& context);
  void unlink(Context& context);
  void make_home_ready();
  void cancel_everything(std::exception_ptr reason);
  void cancel_as_deadlock(const std::string& report);
  std::string deadlock_report() const;
  bool stands_still() const;
  std::string standstill_report() const;

  // The loop, on the executor's own OS thread.
  void services_loop();
  void run_fibers();
  void run_posted();
  void fire_timers();
  void poll();
  void idle();
  void jump_to_next_timer();
  void sleep_in_kernel();
  void look_at_descriptors(bool waits);
  void wake_later();
  void notify();

  // Fibers and their timers.
  static constexpr std::size_t idle_max = 256;  // more services than that take and give stacks
  Context* live_ = nullptr;                     // those that have work
  std::vector<Context*> idle_;                  // services without any, which keep their fibers
  std::size_t leaving_ = 0;                     // of those, told to end
  std::size_t live_count_ = 0;
  std::size_t live_most_ = 0;      // since time passed
  std::vector<Timer> timers_;      // a heap, earliest first
  std::size_t timers_max_ = 1024;  // before those nobody awaits are thrown out
  std::uint64_t timer_order_ = 0;
  std::vector<std::function<void()>> later_;  // when no fiber is ready any more
  Algorithm* algorithm_ = nullptr;
  StackSwitch switch_;
  boost::fibers::context* home_ = nullptr;  // the OS thread's own context, while it waits
  std::exception_ptr deadlock_;
  std::atomic<bool> ending_{false};  // what has not begun never does

  // From other threads.
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
  std::vector<Context*> unparked_;
  std::vector<Context*> begun_;          // from outside, to be launched
  std::atomic<bool> has_posted_{false};  // any of them; looked at without the mutex
  std::atomic<bool> has_begun_{false};
  std::vector<Context*> begun_now_;                // by launch_begun(), which keeps their memory
  std::vector<std::function<void()>> posted_now_;  // by poll(), which keeps their memory
  std::vector<Context*> unparked_now_;
  enum State : int { running, sleeping, notified };
  std::atomic<int> state_{running};
  std::atomic<bool> stop_{false};

  // steady clock.
  std::chrono::steady_clock::time_point origin_;
  int epoll_ = -1;
  int event_ = -1;
  std::unordered_map<int, std::function<void()>> watched_;
  OsThread services_thread_;
  std::atomic<std::thread::id> own_thread_{};
  std::mutex os_threads_mutex_;
  std::list<Worker> os_threads_;
  std::list<Worker> ended_os_threads_;  // to be joined
  std::condition_variable os_thread_ended_;
  std::mutex no_fibers_mutex_;
  std::condition_variable no_fibers_;
  bool has_no_fibers_ = false;
  bool is_waited_for_ = false;  // on the executor's own OS thread

  // virtual clock.
  Nanos virtual_now_{0};
  std::uint64_t instant_ = 1;  // counts the times at which something ran
  std::uint64_t runs_ = 0;     // of contexts, at this time
  std::uint64_t earlier_runs_ = 0;
  std::uint64_t runs_of_services_ = 0;  // in a row, while no thread ran
  std::vector<std::unique_ptr<Resumption>> idle_resumptions_;
};

}  // namespace runtime
