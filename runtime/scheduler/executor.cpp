// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/executor.cpp — start of contexts, and runs
#include "runtime/scheduler/executor.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "runtime/scheduler/steady_clock.hpp"
#include "runtime/scheduler/virtual_clock.hpp"
#include "runtime/scheduler/watchdog.hpp"

namespace runtime {

namespace {

RuntimeOptions in_whole_pages(RuntimeOptions options) {
  const auto page = static_cast<std::size_t>(getpagesize());
  options.stack_bytes = (options.stack_bytes + page - 1) / page * page;
  return options;
}

std::unique_ptr<Clock> make_clock(ClockKind chosen, Executor& executor, Scheduler& scheduler,
                                  std::atomic<bool>& is_ending) {
  if (chosen == ClockKind::virtual_time)
    return std::make_unique<VirtualClock>(scheduler.live, is_ending);
  return std::make_unique<SteadyClock>(executor, scheduler);
}

}  // namespace

Executor::Executor(RuntimeOptions given)
    : options(in_whole_pages(given)),
      clock_(make_clock(options.clock, *this, scheduler_, is_ending_)) {
  if (options.clock == ClockKind::virtual_time) return;
  os_threads_.emplace(*this);
  os_threads_->services.start();
}

Executor::~Executor() {
  if (!os_threads_) return;
  is_ending_.store(true);
  os_threads_->pool.end_all();
  os_threads_->services.stop();
}

// ---- start of contexts ---------------------------------------------------------------------

Task Executor::spawn(ContextRole role, ContextName name, std::size_t stack_bytes,
                     std::function<void()> work) {
  const auto state = std::make_shared<Task::State>();
  state->work = std::move(work);
  state->self = state;
  try {
    begin(role, name, stack_bytes, *state);
  } catch (...) {
    state->self = nullptr;
    throw;
  }
  Task task;  // created last, because its destructor waits for the end of started work
  task.state_ = state;
  return task;
}

void Executor::begin(ContextRole role, ContextName name, std::size_t stack_bytes, Work& work) {
  launch_begun();
  if (os_threads_ && role == ContextRole::thread) {
    begin_os_thread(name, work);
  } else if (role == ContextRole::thread || !begin_again(name, work)) {
    begin_fiber(role, name, stack_bytes, work);
  }
}

void Executor::begin_fiber(ContextRole role, ContextName name, std::size_t stack_bytes,
                           Work& work) {
  Context& context = Scheduler::make(stack_bytes);
  context.executor = this;
  context.name = name;
  context.role = role;
  context.work_ = &work;
  context.from_outside_ = !on_own_thread();
  work.give_context(context);
  if (!context.from_outside_) return scheduler_.launch(context);
  inbox_.add_begun(context);
  notify();
}

/// Launches the contexts that other threads have begun. Must be called before this thread begins a
/// context of its own, so that contexts start in the order in which they were begun. Frames are
/// then processed in the order of arrival, even if different threads receive them.
void Executor::launch_begun() {
  if (!inbox_.has_begun() || !on_own_thread()) return;
  inbox_.take_begun([this](Context& context) { scheduler_.launch(context); });
}

/// Runs the work in an idle fiber, whose previous service has ended. Returns false if there is no
/// idle fiber.
bool Executor::begin_again(ContextName name, Work& work) {
  Context* const context = on_own_thread() ? scheduler_.take_idle() : nullptr;
  if (context == nullptr) return false;
  context->name = name;
  context->work_ = &work;
  work.give_context(*context);
  scheduler_.reuse(*context);
  return true;
}

void Executor::run_work(Context& context) {
  Context::set_current(&context);
  clock_->count_run(context);
  Work& work = *std::exchange(context.work_, nullptr);
  work.ended(run(work));
  context.forget_cancel();
}

std::exception_ptr Executor::run(Work& work) {
  if (is_ending_.load()) return std::make_exception_ptr(Cancelled());
  try {
    work.run();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void Executor::begin_os_thread(ContextName name, Work& work) {
  os_threads_->pool.join_ended();  // frees the contexts of ended threads for reuse
  Context& context = *Context::take_for_thread();
  context.executor = this;
  context.name = name;
  work.give_context(context);
  os_threads_->pool.begin(context, [this, &work] { work.ended(run(work)); });
}

// ---- work of other threads, and the loop ---------------------------------------------------

void Executor::post(std::function<void()> work) {
  inbox_.add_work(std::move(work));
  notify();
}

void Executor::post_unpark(Context& context) {
  inbox_.add_woken(context);
  notify();
}

void Executor::notify() { clock_->notify(); }

// Runs on the dispatcher's stack; no context is current.
void Executor::poll() {
  Context::set_current(nullptr);
  run_callback([this] {
    if (inbox_.has_any()) {
      const Inbox::Taken taken = inbox_.take();
      launch_begun();
      for (Context* context : taken.woken()) context->unpark_fiber();
      for (const auto& work : taken.work()) work();
    }
    clock_->poll();
  });
}

void Executor::idle() {
  Context::set_current(nullptr);
  clock_->idle();
}

void Executor::none_lives() {
  if (os_threads_) os_threads_->services.none_lives();
}

// ---- runs ----------------------------------------------------------------------------------

void Executor::begin_run() {
  ENSURE(is_parallel());
  is_ending_.store(false);
}

void Executor::end_run() {
  is_ending_.store(true);
  os_threads_->pool.end_all();
  os_threads_->services.end_services();
}

void Executor::run(const std::function<void()>& main) {
  if (!os_threads_) return run_on_caller(main);
  struct Run {
    Executor& executor;
    Context& self;
    Executor* before;
    Run(Executor& all, Context& caller)
        : executor(all), self(caller), before(std::exchange(caller.executor, &all)) {
      executor.begin_run();
    }
    ~Run() {
      executor.end_run();
      self.executor = before;
    }
  } const run(*this, *Context::current());
  main();
}

void Executor::run_on_caller(const std::function<void()>& main) {
  ENSURE(!scheduler_.is_attached());  // no other run() is active
  Context* caller = Context::current();
  const AlternateStack for_signals;
  is_ending_ = false;
  clock_->begin_run();
  scheduler_.attach();
  const Watchdog watchdog(*clock_, scheduler_.live);
  Task task;
  std::exception_ptr error;
  try {
    const std::size_t stack_bytes = std::max(options.stack_bytes, thread_stack_bytes);
    task = spawn(ContextRole::thread, {"main", {}, 0}, stack_bytes, [this, &main] {
      struct AtEnd {
        Executor& executor;
        ~AtEnd() {
          executor.is_ending_ = true;
          executor.scheduler_.live.cancel(nullptr);
        }
      } at_end{*this};
      main();
    });
  } catch (...) {
    error = std::current_exception();
  }
  scheduler_.run(false);
  scheduler_.detach();
  clock_->timers.clear();
  Context::set_current(caller);
  if (!error) error = task.state_->error;
  if (!error) error = clock_->deadlock();
  if (error) std::rethrow_exception(error);
}

}  // namespace runtime
