// SPDX-License-Identifier: Apache-2.0
// runtime/runtime.hpp — contexts that run code, and the clock that they use
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.hpp"
#include "runtime/polling/poller.hpp"
#include "runtime/wait.hpp"

namespace runtime {

/// Name of a context (OS thread or fiber that may wait) in reports, such as {"thread", "alpha-0",
/// 3}. It owns no strings; the views must outlive the context.
struct ContextName {
  std::string_view role;
  std::string_view of = {};
  std::uint64_t number = 0;
  std::string text() const;
};

/// Purpose of a context. A `thread` runs the application. A `service` does work for other contexts
/// or hosts, such as an operation of another host. DeferredWakes can wake services before threads.
enum class ContextRole : std::uint8_t { thread, service };

class TaskCanceller;

/// Work that runs in a context of its own and has one owner, like `std::jthread`. The destructor
/// cancels the work and blocks until it has ended, unless detach() was called.
///
/// Why: the work may use local variables that were declared before the Task. The Task is destroyed
///   before them, and its destructor waits for the work.
/// Blocks: the destructor and the assignment. Both wait even if the calling context is cancelled,
///   and discard the exception of the work.
/// Bugs: it is a bug if a callback, or the work itself, destroys the Task before the work has
///   ended.
class [[nodiscard]] Task {
 public:
  Task() = default;
  Task(Task&& other) noexcept = default;
  Task& operator=(Task&& other) noexcept;
  ~Task() { end(); }
  explicit operator bool() const { return state_ != nullptr; }
  bool done() const;
  /// Blocks until the work has returned and its captures are destroyed. Throws the exception of the
  /// work, except Cancelled.
  void join();
  /// Cancels the work of this Task: its current wait and all its later waits throw `reason`, or
  /// Cancelled if `reason` is nullptr. `reason` should be an exception of the class Stop, which
  /// handlers of ordinary errors do not catch. Any context may call this function.
  void cancel(std::exception_ptr reason = nullptr);
  /// Gives up ownership of the work, which continues until it returns or the run ends. Everything
  /// that the work uses must live until then.
  void detach() { state_ = nullptr; }
  /// Returns a handle that can cancel the work and may outlive the Task.
  TaskCanceller canceller() const;

  struct State;

 private:
  friend class Executor;
  void end() noexcept;
  std::shared_ptr<State> state_;
};

/// A handle that cancels the work of a Task without owning it. Copies refer to the same work.
class TaskCanceller {
 public:
  TaskCanceller() = default;
  explicit operator bool() const { return state_ != nullptr; }
  /// Cancels the work like Task::cancel(). Has no effect after the end of the work.
  void cancel(std::exception_ptr reason = nullptr);

 private:
  friend class Task;
  explicit TaskCanceller(std::shared_ptr<Task::State> state) : state_(std::move(state)) {}
  std::shared_ptr<Task::State> state_;
};

class Context;
class Executor;

/// Work that starts often, in a service context. Its creator owns the object, so a start allocates
/// no memory. Use a Task for all other work.
///
/// Owns: nothing. From Runtime::begin() to ended(), only the context that runs the work uses the
///   object.
class Work {
 public:
  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 protected:
  /// Does the work, in a service context. Not called if the runtime ends before the work starts.
  virtual void run() = 0;
  /// Called after run(), in the same context, with the exception that run() threw. This is the last
  /// call for this start, so afterwards the work may be started again or destroyed. Must not block
  /// or throw. Must first call let_go(), while it holds the mutex that the creator holds during
  /// each cancel().
  virtual void ended(std::exception_ptr error) = 0;
  /// Cancels started work like Task::cancel(). Requires: ended() has not called let_go() yet, and
  /// no other cancel() runs. A mutex of the creator ensures both.
  void cancel(std::exception_ptr reason = nullptr);
  void let_go() { context_.store(nullptr); }
  bool runs_in(const Context& context) const { return context_.load() == &context; }

 private:
  friend class Executor;
  void give_context(Context& context);
  std::atomic<Context*> context_{nullptr};
  std::atomic<bool> is_cancelled_{false};
  std::exception_ptr reason_;
};

enum class ClockKind : std::uint8_t { steady, virtual_time };

/// Maximum number of fibers with a guard (an inaccessible page) below their stack. Each guard takes
/// two of the mappings that the kernel allows a process (vm.max_map_count, 65,530 by default).
inline constexpr std::size_t guarded_fibers_max = 30'000;

/// Default stack size of a thread, and the stack size of every service.
inline constexpr std::size_t thread_stack_bytes = std::size_t{8} << 20;
inline constexpr std::size_t service_stack_bytes = std::size_t{256} << 10;

enum class Waiting : std::uint8_t {
  adaptive,  ///< polls first if polling has proved faster at this wait, then sleeps
  sleep,     ///< sleeps immediately
};

struct RuntimeOptions {
  ClockKind clock = ClockKind::steady;
  /// Address space for the stack of each context with the role `thread`. Only touched pages use
  /// memory.
  std::size_t stack_bytes = thread_stack_bytes;
  Waiting waiting = Waiting::adaptive;
  /// Whether a handler for SIGSEGV and SIGBUS prints a report of a stack overflow.
  bool says_overflows = true;
};

/// The contexts and the clock of one process. The same program runs either in real time or in
/// simulated time.
///
/// - Steady clock: application threads are OS threads. Services are fibers that share one OS
///   thread, which sleeps in the kernel while it has nothing to do.
/// - Virtual clock: everything is a fiber of the OS thread that called run(). If no fiber is ready,
///   time jumps to the next event. The run ends with a Deadlock if there is no next event, or if
///   contexts run extremely often (at least a million times) while time stands still. Two runs of
///   the same code see the same times and the same order.
///
/// A stack overflow ends the process with a report of the context's name and stack size. There is
/// no report if more than guarded_fibers_max fibers exist or says_overflows is off.
class Runtime {
 public:
  /// Throws std::runtime_error if the system has no OS thread for the services.
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();  ///< cancels and joins contexts that have not ended
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  bool is_virtual() const;
  /// Returns whether contexts run at the same time, on several OS threads. If not, one context at a
  /// time runs, in an order that each run repeats. Then no context runs while the caller is outside
  /// of run(). False on the virtual clock.
  bool is_parallel() const;
  /// Returns the time since this runtime was created, in nanoseconds. Any context may call it.
  Nanos now() const;
  /// Returns approximately now(), at a lower cost, for deadlines that are seconds away. On the
  /// steady clock the result may lag by a few milliseconds. On the virtual clock it equals now().
  Nanos roughly_now() const;
  /// Returns how often contexts have started, or continued after a wait, in total. This number
  /// measures the cost of a simulation. On the steady clock it is 0.
  std::uint64_t events() const;
  /// Returns the system time at which now() was 0: nanoseconds since 1970 in UTC. For files and
  /// output, not for measurements. 0 on the virtual clock.
  Nanos utc_at_zero() const;
  /// Returns what the machine's steady clock showed when now() was 0. All processes of the machine
  /// share that clock. Steady clock only.
  Nanos steady_at_zero() const;
  /// Blocks the calling context until `when`, or for `span`. If the context is cancelled, throws
  /// the exception that cancels it, a Stop.
  void sleep_until(Nanos when);
  void sleep_for(Nanos span);

  /// Runs `main` as the first context. When `main` has returned or thrown, cancels and joins the
  /// contexts that still run. Contexts that have not started never start. Then returns, or throws
  /// the exception of `main`. On the virtual clock run() throws Deadlock after a deadlock, even if
  /// a context caught the Deadlock.
  void run(std::function<void()> main);

  /// Begin and end a run, for a process that starts its own threads and therefore cannot call
  /// run(). Contexts may start after open(). close() cancels and joins them, like the end of run().
  /// Requires: the calling thread has a ThreadAttachment. Steady clock only.
  void open();
  void close();

  /// Whether the run is deadlocked, so that run() will throw Deadlock. Failures that follow are
  /// consequences of the deadlock. Virtual clock only.
  bool is_deadlocked() const;

  /// Starts `work` in a context of its own. Any context of this runtime may call it. Throws
  /// std::runtime_error if there is no OS thread or no stack for it.
  Task spawn(ContextRole role, ContextName name, std::function<void()> work);

  /// Starts `work` in a service context. A call from a service context or a callback allocates
  /// nothing, unless more services run at the same time than ever before.
  void begin(ContextName name, Work& work);

  /// Runs `work` soon on the OS thread of the services. `work` must not block, because it runs
  /// outside of any context. A thread outside the runtime can start code in the runtime only with
  /// this function. Any thread may call it, but no signal handler may. On the virtual clock only
  /// the thread that called run() may call it.
  void wake_from_outside(std::function<void()> work);

  /// Calls `on_readable` on the services' OS thread, outside of any context, whenever `descriptor`
  /// may be readable (level-triggered). unwatch() may be called on that thread only. Steady clock
  /// only.
  void watch(int descriptor, std::function<void()> on_readable);
  void unwatch(int descriptor);

  /// Makes waiting OS threads of this runtime poll `poller`, unless the runtime has Waiting::sleep.
  /// remove_poller() returns when no thread polls it any more. Steady clock only.
  void add_poller(Poller& poller);
  void remove_poller(Poller& poller);

  /// Whether the caller is a context or callback on the services' OS thread.
  bool on_services_thread() const;

 private:
  friend class Context;
  friend class WaitSet;
  friend class ThreadAttachment;
  std::unique_ptr<Executor> executor_;
};

/// While this object exists, the calling OS thread counts as a context of the runtime, although the
/// runtime did not start it. The thread may then wait, and its deadlines are on the runtime's
/// clock. Steady clock only.
///
/// Thread-safe: no. The thread that creates it also destroys it. After the end of that thread,
///   another thread may destroy it.
class ThreadAttachment {
 public:
  /// Throws UsageError if the caller is already a context of a runtime.
  ThreadAttachment(Runtime& runtime, ContextName name);
  ~ThreadAttachment();
  ThreadAttachment(const ThreadAttachment&) = delete;
  ThreadAttachment& operator=(const ThreadAttachment&) = delete;
  // Any thread may call is_of_caller() and has_thread_ended().
  bool is_of_caller() const;
  bool has_thread_ended() const;

 private:
  Context& context_;
  const ContextName name_before_;
};

/// Returns an identity of the calling context, for comparison only; nullptr in callbacks. An OS
/// thread that the runtime did not start has an identity too. The identity of an ended context may
/// be reused.
const void* calling_context();
/// Runs the other services of the calling service's OS thread, handles arrived messages, and then
/// returns. A service should call this function if it would otherwise occupy the OS thread for
/// long. Returns immediately in a thread, in a callback, on the virtual clock, and if the caller is
/// cancelled.
void yield_to_services();
/// Whether the caller is a context of a runtime, or a callback.
bool is_inside_a_run();

/// Returns the system date and time, "2026-01-31T12:00:00Z", independent of the clock of any
/// runtime.
std::string utc_text();
/// Returns the running context for messages: "thread alpha-0/3 at 12.5ms".
std::string describe_current_context();

}  // namespace runtime
