// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/executor.cpp — start of contexts, passing of time, loops of both clocks
#include "runtime/scheduler/executor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/errors.hpp"
#include "runtime/scheduler/watchdog.hpp"

namespace runtime {

namespace {

RuntimeOptions in_whole_pages(RuntimeOptions options) {
  const auto page = static_cast<std::size_t>(getpagesize());
  options.stack_bytes = (options.stack_bytes + page - 1) / page * page;
  return options;
}

}  // namespace

Executor::Executor(RuntimeOptions given)
    : options(in_whole_pages(given)),
      origin_(std::chrono::steady_clock::now()),
      os_threads_(options.stack_bytes) {
  if (!is_virtual()) reactor_.emplace();
}

Executor::~Executor() {
  if (!services_thread_.joinable()) return;
  ending_.store(true);
  os_threads_.end_all();
  post([this] { scheduler_.stop(); });
  services_thread_.join();
}

Nanos Executor::now() const {
  return is_virtual() ? clock_.now() : std::chrono::steady_clock::now() - origin_;
}

Nanos Executor::roughly_now() const {
  if (is_virtual()) return clock_.now();
  timespec last_tick{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &last_tick);  // time of the kernel's last timer tick
  return std::chrono::seconds(last_tick.tv_sec) + Nanos(last_tick.tv_nsec) -
         origin_.time_since_epoch();
}

Nanos Executor::on_steady_clock(Nanos when) const {
  const Nanos zero = origin_.time_since_epoch();
  return when > Nanos::max() - zero ? Nanos::max() : when + zero;
}

bool Executor::on_own_thread() const {
  return own_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

// ---- start of contexts ---------------------------------------------------------------------

Task Executor::spawn(ContextRole role, ContextName name, std::function<void()> work) {
  const bool is_thread = role == ContextRole::thread;
  return spawn_with(role, name, is_thread ? options.stack_bytes : service_stack_bytes,
                    std::move(work));
}

Task Executor::spawn_with(ContextRole role, ContextName name, std::size_t stack_bytes,
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
  if (!is_virtual() && role == ContextRole::thread) {
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
  count_run(context);
  Work& work = *std::exchange(context.work_, nullptr);
  work.ended(run(work));
  context.forget_cancel();
}

std::exception_ptr Executor::run(Work& work) {
  if (ending_.load() || deadlock_) return std::make_exception_ptr(Cancelled());
  try {
    work.run();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void Executor::begin_os_thread(ContextName name, Work& work) {
  os_threads_.join_ended();  // frees the contexts of ended threads for reuse
  Context& context = *Context::take_for_thread();
  context.executor = this;
  context.name = name;
  work.give_context(context);
  os_threads_.begin(context, [this, &work] { work.ended(run(work)); });
}

void Executor::begin_run() { ending_.store(false); }

void Executor::end_run() {
  ending_.store(true);
  os_threads_.end_all();
  end_services();
}

void Executor::end_services() {
  std::unique_lock lock(no_fibers_mutex_);
  has_no_fibers_ = false;
  post([this] {
    scheduler_.live.cancel(nullptr);
    is_waited_for_ = true;
    if (scheduler_.live.empty()) none_lives();
  });
  no_fibers_.wait(lock, [this] { return has_no_fibers_; });
}

void Executor::none_lives() {
  if (!std::exchange(is_waited_for_, false)) return;
  std::lock_guard lock(no_fibers_mutex_);
  has_no_fibers_ = true;
  no_fibers_.notify_all();
}

// ---- wake-ups of services before threads ----------------------------------------------------

void Executor::wake_in_order(std::vector<Context*> services, DeferredWakes::Threads threads) {
  if (is_virtual()) {
    for (Context* service : services) service->unpark();
    threads.wake();
    return;
  }
  if (on_own_thread()) {
    for (Context* service : services) service->unpark_fiber();
    later_.push_back([threads = std::move(threads)] { threads.wake(); });
    return;
  }
  Context* self = Context::current();
  if (self == nullptr) {  // no current context: the caller is a thread that waits and polls
    post([this, services = std::move(services), threads = std::move(threads)] {
      for (Context* service : services) service->unpark_fiber();
      later_.push_back([threads] { threads.wake(); });
    });
    return;
  }
  // The caller is an application thread. It blocks until the services have run, because on a busy
  // machine its computation would delay the replies of the services.
  std::atomic<bool> my_turn{false};
  post([this, &my_turn, self, services = std::move(services), threads = std::move(threads)] {
    for (Context* service : services) service->unpark_fiber();
    later_.push_back([&my_turn, self, threads] {
      threads.wake();
      my_turn.store(true, std::memory_order_release);
      self->unpark();
    });
  });
  const Reason reason{"its turn behind the services"};
  while (!my_turn.load(std::memory_order_acquire)) self->park(Nanos::max(), reason);
}

void Executor::wake_later() {
  if (later_.empty() || scheduler_.has_ready()) return;
  for (auto& work : std::exchange(later_, {})) work();
}

// ---- work of other threads, descriptors and timers -----------------------------------------

void Executor::post(std::function<void()> work) {
  inbox_.add_work(std::move(work));
  notify();
}

void Executor::post_unpark(Context& context) {
  inbox_.add_woken(context);
  notify();
}

void Executor::notify() {
  if (reactor_) reactor_->notify();
}

void Executor::run_posted() {
  if (!inbox_.has_any()) return;
  const Inbox::Taken taken = inbox_.take();
  launch_begun();
  for (Context* context : taken.woken()) context->unpark_fiber();
  for (const auto& work : taken.work()) work();
}

void Executor::watch(int descriptor, std::function<void()> on_readable) {
  ENSURE(!is_virtual());
  post([this, descriptor, on_readable = std::move(on_readable)]() mutable {
    reactor_->watch(descriptor, std::move(on_readable));
  });
}

void Executor::unwatch(int descriptor) {
  ENSURE(on_own_thread());
  reactor_->unwatch(descriptor);
}

// Runs on the dispatcher's stack; no context is current.
void Executor::poll() {
  Context::set_current(nullptr);
  run_callback([this] {
    run_posted();
    if (is_virtual()) {
      if (!deadlock_ && clock_.stands_still(scheduler_.live.most()))
        cancel_as_deadlock(scheduler_.live.standstill_report(clock_));
    } else {
      timers_.fire(now());
      // While fibers are ready, idle() does not run, so this call handles the readable sockets.
      if (scheduler_.has_ready()) reactor_->look();
    }
    wake_later();
  });
}

void Executor::idle() {
  Context::set_current(nullptr);
  if (is_virtual()) return jump_to_next_timer();
  const Nanos next = timers_.next();
  reactor_->sleep(next == Nanos::max() ? next : std::max(Nanos{0}, next - now()));
}

void Executor::jump_to_next_timer() {
  if (const Nanos next = timers_.next(); next != Nanos::max()) {
    if (next > clock_.now()) {
      clock_.advance_to(next);
      scheduler_.live.restart_most();
    }
    return timers_.fire(clock_.now());
  }
  if (scheduler_.live.empty()) return;
  const std::string report = scheduler_.live.deadlock_report(clock_);
  if (deadlock_ || ending_.load())  // the destructors of Tasks wait for each other
    base::report_bug(__FILE__, __LINE__, "contexts that were cancelled wait: " + report);
  cancel_as_deadlock(report);
}

void Executor::cancel_as_deadlock(const std::string& report) {
  deadlock_ = std::make_exception_ptr(Deadlock(report));
  scheduler_.live.cancel(deadlock_);
}

void Executor::count_run(Context& context) {
  if (std::exchange(context.instant_, clock_.instant()) != clock_.instant()) context.runs_ = 0;
  ++context.runs_;
  clock_.count_run(context.role == ContextRole::service);
}

// ---- loops of the two clocks ---------------------------------------------------------------

void Executor::run_virtual(const std::function<void()>& main) {
  ENSURE(own_thread_.load() == std::thread::id());  // no other run() is active
  Context* caller = Context::current();
  const AlternateStack for_signals;
  ending_ = false;
  deadlock_ = nullptr;
  clock_.begin_run();
  own_thread_.store(std::this_thread::get_id());
  const Watchdog watchdog(*this);
  scheduler_.attach();
  Task task;
  std::exception_ptr error;
  try {
    const std::size_t stack_bytes = std::max(options.stack_bytes, thread_stack_bytes);
    task = spawn_with(ContextRole::thread, {"main", {}, 0}, stack_bytes, [this, &main] {
      struct AtEnd {
        Executor& executor;
        ~AtEnd() {
          executor.ending_ = true;
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
  timers_.clear();
  own_thread_.store(std::thread::id());
  Context::set_current(caller);
  if (!error) error = task.state_->error;
  if (!error) error = deadlock_;
  if (error) std::rethrow_exception(error);
}

void Executor::start_services_thread() {
  services_thread_ = OsThread(thread_stack_bytes, [this] {
    own_thread_.store(std::this_thread::get_id());
    Context::set_current(nullptr);
    scheduler_.attach();
    scheduler_.run(true);
    scheduler_.detach();
  });
  while (own_thread_.load() == std::thread::id()) std::this_thread::yield();
}

}  // namespace runtime
