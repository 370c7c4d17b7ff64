// SPDX-License-Identifier: Apache-2.0
// runtime/runtime.hpp — contexts that run code, and the clock they live by.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.hpp"
#include "runtime/scheduler/poller.hpp"
#include "runtime/wait.hpp"

namespace runtime {

/// Names a context in reports without owning a string: {"thread", "alpha-0", 3}. The views must
/// outlive the context.
struct ContextName {
  std::string_view role;
  std::string_view of = {};
  std::uint64_t number = 0;
  std::string text() const;
};

/// A thread of the application, or a context that works for somebody else (serves a path from
/// another host, prefetches): Wakes lets services go first.
enum class ContextRole : std::uint8_t { thread, service };

class TaskCanceller;

/// Work in a context of its own, with one owner, as `std::jthread`. Destruction of a Task cancels
/// its work and blocks until the work has ended, unless detach() was called.
///
/// Why:    work uses variables of the scope that started it, which end after the Task.
/// Blocks: the destructor and the assignment; they wait also in a context that is itself
///         cancelled, and drop the exception of the work.
/// Bugs:   a callback, or the work itself, destroys the Task before the work has ended.
class [[nodiscard]] Task {
 public:
  Task() = default;
  Task(Task&& other) noexcept = default;
  Task& operator=(Task&& other) noexcept;
  ~Task() { end(); }
  explicit operator bool() const { return state_ != nullptr; }
  bool done() const;
  /// Blocks until the work has returned and its captures are destroyed. Throws what the work threw,
  /// except Cancelled.
  void join();
  /// Makes the present or next wait of the work, and all later ones, throw `reason` (Cancelled if
  /// it is null), which should be a Stop. Any context may call.
  void cancel(std::exception_ptr reason = nullptr);
  /// Lets the work go on without an owner, until it returns or the run ends. Everything that the
  /// work uses must live until then.
  void detach() { state_ = nullptr; }
  /// A right to cancel the work that outlives the Task.
  TaskCanceller canceller() const;

  struct State;

 private:
  friend class Runtime;
  friend class Executor;
  void end() noexcept;
  std::shared_ptr<State> state_;
};

/// Cancels the work of a Task that has another owner, or none. Copies refer to the same work.
class TaskCanceller {
 public:
  TaskCanceller() = default;
  explicit operator bool() const { return state_ != nullptr; }
  /// Cancels the work as Task::cancel() does. No effect after the end of the work.
  void cancel(std::exception_ptr reason = nullptr);

 private:
  friend class Task;
  explicit TaskCanceller(std::shared_ptr<Task::State> state) : state_(std::move(state)) {}
  std::shared_ptr<Task::State> state_;
};

class Context;
class Executor;

/// Work for service contexts whose memory is its maker's own, so that beginning it takes none. For
/// what begins often; everything else is a Task.
///
/// Sharing: it is the context's from begin() to ended().
class Work {
 public:
  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 protected:
  /// In a context of its own; not at all when the runtime ends before.
  virtual void run() = 0;
  /// The last that is done with it, in the same context, with what run() threw: from here on it may
  /// begin again, or go. Must not block, nor throw. Calls let_go() first, under the lock that its
  /// maker holds to call cancel().
  virtual void ended(std::exception_ptr error) = 0;
  /// As Task::cancel(), of one that has begun and was not let go; two at once are its maker's to
  /// prevent.
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

/// How many fibers have a guard below their stacks; each takes two of the mappings that the kernel
/// allows a process (vm.max_map_count, 65,530).
inline constexpr std::size_t guarded_fibers_max = 30'000;

/// Of stacks: a thread's, where nothing else is said, and a service's, always.
inline constexpr std::size_t thread_stack_bytes = std::size_t{8} << 20;
inline constexpr std::size_t service_stack_bytes = std::size_t{256} << 10;

/// How an OS thread waits.
enum class Waiting : std::uint8_t {
  adaptive,  ///< looks for its wake-up where that has proved shorter than to sleep, then sleeps
  sleep,     ///< at once
};

struct RuntimeOptions {
  ClockKind clock = ClockKind::steady;
  /// Address space of the stack of a context with the role of a thread; only touched pages cost
  /// memory.
  std::size_t stack_bytes = thread_stack_bytes;
  Waiting waiting = Waiting::adaptive;
  /// Whether an overflow of a stack is said in words, by a handler of SIGSEGV and SIGBUS.
  bool says_overflows = true;
};

/// The contexts and the clock of one process.
///
/// steady clock:  threads are OS threads; services share one OS thread, as fibers, which sleeps
///                in the kernel while it has nothing to do.
/// virtual clock: everything is a fiber of the OS thread that called run(). When no fiber is
///                ready, time jumps to the next event; without one that is a Deadlock, and so is
///                time that stands still while contexts run a million times. Two runs of the same
///                code see the same times and the same order.
///
/// A context that overflows its stack ends the process with its name and the stack's size, unless
/// it is one of more than guarded_fibers_max or nobody is to say it.
class Runtime {
 public:
  /// Throws std::runtime_error when there is no OS thread for the services.
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();  ///< every spawned context has ended or is cancelled and joined here
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  bool is_virtual() const;
  /// Nanoseconds since this runtime began. Any context.
  Nanos now() const;
  /// now() on the virtual clock; else up to a few milliseconds before it, in a fraction of the time
  /// that asking for it takes: for what is seconds away.
  Nanos roughly_now() const;
  /// How often contexts have gone on until now, which says what a simulation costs. Virtual clock
  /// only.
  std::uint64_t events() const;
  /// What the machine's clock showed, since 1970 in UTC, when now() was 0: for files and people,
  /// not for measuring. Steady clock only.
  Nanos utc_at_zero() const;
  /// What the machine's steady clock, which all its processes share, showed when now() was 0.
  /// Steady clock only.
  Nanos steady_at_zero() const;
  /// The machine's date and time now, "2026-01-31T12:00:00Z", whatever clock this runtime has.
  static std::string utc_text();
  /// Blocks the calling context. Throws what it is cancelled with.
  void sleep_until(Nanos when);
  void sleep_for(Nanos span);

  /// Runs `main` as the first context and returns when it has; the contexts it left behind, also
  /// by throwing, are cancelled and waited for, and those that have not begun never do. Throws what
  /// `main` threw; on the virtual clock Deadlock when nobody could ever wake, whoever caught it.
  void run(std::function<void()> main);

  /// run() in two halves, for a process whose threads are its own: from open() on contexts may
  /// begin and close() does what the end of run() does. Each by a Visit. Steady clock only.
  void open();
  void close();

  /// Virtual clock: whether run() will throw Deadlock. What fails from then on fails because of it.
  bool is_deadlocked() const;

  /// Starts `work` in a context of its own. Any context of this runtime may call. Throws
  /// std::runtime_error when there is no OS thread or no stack for it.
  Task spawn(ContextRole role, ContextName name, std::function<void()> work);

  /// The same in a service context, for work that has its own memory. From a service context or
  /// callback nothing is allocated while no more run at once than ever did.
  void begin(ContextName name, Work& work);

  /// The one way in from outside: `work` runs soon on the services' OS thread, in no context (it
  /// must not block). Any thread or signal-free callback of the process may call; on the virtual
  /// clock only the thread of run().
  void wake_from_outside(std::function<void()> work);

  /// Calls `on_readable` on the services' OS thread whenever `descriptor` may be readable, in no
  /// context; level-triggered. steady clock only. unwatch() from that thread only.
  void watch(int descriptor, std::function<void()> on_readable);
  void unwatch(int descriptor);

  /// Has OS threads of this runtime look at `poller` while they wait, unless they sleep at once.
  /// steady clock only. remove_poller() returns when nobody looks at it any more.
  void add_poller(Poller& poller);
  void remove_poller(Poller& poller);

  /// True in a context or callback that runs on the services' OS thread.
  bool on_services_thread() const;

 private:
  friend class Context;
  friend class Task;
  friend class WaitSet;
  friend class ThreadAttachment;
  std::unique_ptr<Executor> executor_;
};

/// An OS thread that the runtime did not start, as one of its contexts while this lives: it may
/// wait, and has the runtime's clock. Steady clock only.
///
/// Sharing: made and ended by that thread; by another one when that thread has ended.
class ThreadAttachment {
 public:
  /// Throws UsageError when the caller is a context of a runtime already.
  ThreadAttachment(Runtime& runtime, ContextName name);
  ~ThreadAttachment();
  ThreadAttachment(const ThreadAttachment&) = delete;
  ThreadAttachment& operator=(const ThreadAttachment&) = delete;
  // Any thread may ask.
  bool is_of_caller() const;
  bool has_thread_ended() const;

 private:
  Context& context_;
  const ContextName name_before_;
};

/// Tells contexts apart, for comparing only: null in callbacks; an OS thread that the runtime did
/// not start has one, too. One that has ended may become another's.
const void* calling_context();
/// Lets other services of the calling service's OS thread run, and what has arrived for them,
/// before the caller goes on. Returns at once in a thread, in a callback, on the virtual clock, and
/// when the caller is cancelled. For work that would keep the OS thread for long.
void yield_to_services();
/// Is the caller a context of a runtime, while it runs?
bool is_inside_a_run();

/// Who is running, for messages: "thread alpha-0/3 at 12.5ms".
std::string describe_current_context();

}  // namespace runtime
