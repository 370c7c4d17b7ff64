// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/executor.cpp — the scheduling of fibers, time, and what comes in from outside.
#include "runtime/scheduler/executor.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/fiber/algo/round_robin.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <cerrno>
#include <ctime>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "runtime/scheduler/stack_pool.hpp"
#include "runtime/scheduler/watchdog.hpp"

namespace runtime {

/// First come, first served; Boost.Fiber's dispatcher, which does the housekeeping, only when
/// nothing else is ready, or after so many picks that sockets would starve.
class Executor::Algorithm final : public boost::fibers::algo::algorithm {
 public:
  explicit Algorithm(Executor* executor) : executor_(executor) { executor->algorithm_ = this; }

  void awakened(boost::fibers::context* context) noexcept override {
    if (context->is_context(boost::fibers::type::dispatcher_context)) {
      dispatcher_ = context;
    } else {
      context->ready_link(ready_);
    }
  }

  boost::fibers::context* pick_next() noexcept override {
    const bool on_dispatcher =
        boost::fibers::context::active()->is_context(boost::fibers::type::dispatcher_context);
    if (on_dispatcher) {
      executor_->switch_.arrived(boost::fibers::context::active());
      picks_ = 0;
      executor_->poll();
    }
    boost::fibers::context* next = nullptr;
    if (!ready_.empty() && (dispatcher_ == nullptr || ++picks_ < picks_max)) {
      next = &ready_.front();
      ready_.pop_front();
    } else {
      next = std::exchange(dispatcher_, nullptr);
    }
    const bool is_switch = executor_->algorithm_ == this;  // not when the ready ones move out
    if (next != nullptr && is_switch)
      executor_->switch_.leave_for(next, next->is_context(boost::fibers::type::main_context));
    return next;
  }

  bool has_ready_fibers() const noexcept override {
    return !ready_.empty() || dispatcher_ != nullptr;
  }
  bool nothing_ready() const { return ready_.empty(); }

  void suspend_until(const std::chrono::steady_clock::time_point&) noexcept override {
    executor_->idle();
  }
  void notify() noexcept override { executor_->notify(); }

 private:
  static constexpr int picks_max = 256;
  Executor* executor_;
  boost::fibers::scheduler::ready_queue_type ready_;
  boost::fibers::context* dispatcher_ = nullptr;
  int picks_ = 0;
};

namespace {

/// Contexts outlive their fibers (see Context), so they are kept and used again.
class FreeContexts {
 public:
  static Context* take() {
    std::lock_guard lock(mutex());
    if (list().empty()) return new Context;
    Context* context = list().back();
    list().pop_back();
    return context;
  }
  static void give_back(Context& context) {
    std::lock_guard lock(mutex());
    list().push_back(&context);
  }

 private:
  static std::mutex& mutex() {
    static auto& the_mutex = *new std::mutex;
    return the_mutex;
  }
  static std::vector<Context*>& list() {
    static auto& the_list = *new std::vector<Context*>;
    return the_list;
  }
};

RuntimeOptions in_whole_pages(RuntimeOptions options) {
  const auto page = static_cast<std::size_t>(getpagesize());
  options.stack_bytes = (options.stack_bytes + page - 1) / page * page;
  return options;
}

/// Where the kernel knows no nanoseconds (before Linux 5.11, and under some tools), milliseconds.
int wait_for_events(int epoll, std::span<epoll_event> events, const timespec* limit) {
  const int most = static_cast<int>(events.size());
  const int count = epoll_pwait2(epoll, events.data(), most, limit, nullptr);
  if (count >= 0 || errno != ENOSYS) return count;
  constexpr std::int64_t milliseconds_max = 60'000;
  const std::int64_t left =
      limit == nullptr
          ? -1
          : std::min<std::int64_t>(milliseconds_max,
                                   limit->tv_sec * 1000 + (limit->tv_nsec + 999'999) / 1'000'000);
  return epoll_wait(epoll, events.data(), most, static_cast<int>(left));
}

/// Callbacks have nobody to throw to.
void run_callback(const std::function<void()>& callback) {
  try {
    callback();
  } catch (const std::exception& error) {
    base::report_bug(__FILE__, __LINE__, fmt::format("a callback threw: {}", error.what()));
  } catch (const Stop& stop) {
    base::report_bug(__FILE__, __LINE__, fmt::format("a callback waited: {}", stop.what()));
  }
}

}  // namespace

Executor::Executor(RuntimeOptions given)
    : options(in_whole_pages(given)), origin_(std::chrono::steady_clock::now()) {
  if (is_virtual()) return;
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  ENSURE(epoll_ >= 0 && event_ >= 0);
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.fd = event_;
  ENSURE_EQ(epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &interest), 0);
}

Executor::~Executor() {
  if (is_virtual()) return;
  stop_services_thread();
  close(event_);
  close(epoll_);
}

Nanos Executor::now() const {
  return is_virtual() ? virtual_now_ : std::chrono::steady_clock::now() - origin_;
}

Nanos Executor::roughly_now() const {
  if (is_virtual()) return virtual_now_;
  timespec last_tick{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &last_tick);  // what steady_clock showed then
  return std::chrono::seconds(last_tick.tv_sec) + Nanos(last_tick.tv_nsec) -
         origin_.time_since_epoch();
}

bool Executor::on_own_thread() const {
  return own_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

// ---- starting work -------------------------------------------------------------------------

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
  Task task;  // only now: its destructor waits for the end of work that has begun
  task.state_ = state;
  return task;
}

void Executor::begin(ContextRole role, ContextName name, std::size_t stack_bytes, Work& work) {
  launch_begun();
  if (!is_virtual() && (role == ContextRole::thread || !runs_fibers())) {
    begin_os_thread(role, name, work);
  } else if (role == ContextRole::thread || !begin_again(name, work)) {
    begin_fiber(role, name, stack_bytes, work);
  }
}

void Executor::begin_fiber(ContextRole role, ContextName name, std::size_t stack_bytes,
                           Work& work) {
  const StackBounds stack = StackPool::allocate(stack_bytes);
  Context* context = FreeContexts::take();
  context->executor = this;
  context->is_fiber = true;
  context->name = name;
  context->role = role;
  context->stack = stack;
  context->work_ = &work;
  context->from_outside_ = !on_own_thread();
  work.give_context(*context);
  if (!context->from_outside_) return launch_fiber(*context);
  {
    std::lock_guard lock(posted_mutex_);
    begun_.push_back(context);
    has_begun_.store(true);
    has_posted_.store(true);
  }
  notify();
}

/// A continuation in a context. The executor uses it again, so that resuming takes no memory.
class Executor::Resumption final : public Work {
 public:
  explicit Resumption(Executor& executor) : executor_(executor) {}
  void begin(Continuation& continuation) {
    continuation_ = &continuation;
    executor_.begin(ContextRole::service, {"service"}, service_stack_bytes, *this);
  }

 private:
  void run() override { std::exchange(continuation_, nullptr)->go_on(); }
  void ended(std::exception_ptr) override {
    let_go();
    if (continuation_ != nullptr) run();  // the run ends, and begins no work any more
    executor_.idle_resumptions_.emplace_back(this);
  }

  Executor& executor_;
  Continuation* continuation_ = nullptr;
};

void Executor::resume(Continuation& continuation) {
  if (!is_virtual() || !on_own_thread()) return continuation.go_on();  // or the run is over
  if (idle_resumptions_.empty()) idle_resumptions_.push_back(std::make_unique<Resumption>(*this));
  std::unique_ptr<Resumption> resumption = std::move(idle_resumptions_.back());
  idle_resumptions_.pop_back();
  try {
    resumption->begin(continuation);
    resumption.release();  // until it has ended
  } catch (const std::exception&) {  // there is no stack for it
    continuation.go_on();
  }
}

void resume(Runtime& runtime, Continuation& continuation) {
  Context::executor_of(runtime).resume(continuation);
}

base::Nanos end_of(const Runtime& runtime, Deadline deadline) {
  const bool is_event = deadline.written || !Context::executor_of(runtime).is_virtual();
  return is_event ? deadline.at : base::Nanos::max();
}

/// What was begun from outside comes before whatever is begun here after it: frames that different
/// threads receive one after the other enter in that order.
void Executor::launch_begun() {
  if (!has_begun_.load() || !on_own_thread()) return;
  {
    std::lock_guard lock(posted_mutex_);
    begun_now_.swap(begun_);
    has_begun_.store(false);
  }
  for (Context* context : begun_now_) launch_fiber(*context);
  begun_now_.clear();
}

/// In the fiber of a service that has ended; false when there is none.
bool Executor::begin_again(ContextName name, Work& work) {
  if (!on_own_thread() || idle_.empty()) return false;
  Context& context = *idle_.back();
  idle_.pop_back();
  context.name = name;
  context.work_ = &work;
  work.give_context(context);
  link(context);
  make_ready(context);
  return true;
}

void Executor::launch_fiber(Context& context) {
  link(context);
  auto body = [this, &context] {
    run_fiber(context);
    FreeContexts::give_back(context);
  };
  boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg, GivenStack(context.stack),
                       body)
      .detach();
}

void Executor::link(Context& context) {
  context.next_ = live_;
  if (live_ != nullptr) live_->previous_ = &context;
  live_ = &context;
  live_most_ = std::max(live_most_, ++live_count_);
}

void Executor::unlink(Context& context) {
  (context.previous_ != nullptr ? context.previous_->next_ : live_) = context.next_;
  if (context.next_ != nullptr) context.next_->previous_ = context.previous_;
  context.previous_ = context.next_ = nullptr;
  --live_count_;
}

void Executor::run_fiber(Context& context) {
  context.fiber_ = boost::fibers::context::active();
  switch_.arrived(context.fiber_);
  do {
    run_work_of(context);
  } while (wait_for_work(context));
}

void Executor::run_work_of(Context& context) {
  context.parked_ = context.token_ = false;
  Context::set_current(&context);
  count_run(context);
  Work& work = *std::exchange(context.work_, nullptr);
  work.ended(run(work));
  context.forget_cancel();
  unlink(context);
  if (live_ != nullptr) return;
  tell_no_fibers();
  if (home_ != nullptr) make_home_ready();
}

/// False when the fiber is to end. It keeps its stack meanwhile, whose pages are warm. One from
/// outside goes: with each of those there would be one more that is idle.
bool Executor::wait_for_work(Context& context) {
  if (context.from_outside_) return false;
  if (context.role == ContextRole::thread || stop_.load() || idle_.size() >= idle_max) return false;
  idle_.push_back(&context);
  suspend_current();
  if (context.work_ != nullptr) return true;
  if (--leaving_ == 0) make_home_ready();
  return false;
}

/// By the OS thread's own context.
void Executor::dismiss_idle() {
  leaving_ = idle_.size();
  for (Context* context : std::exchange(idle_, {})) make_ready(*context);
  if (leaving_ == 0) return;
  home_ = boost::fibers::context::active();
  suspend_current();
}

void Executor::make_home_ready() {
  boost::fibers::context::active()->schedule(std::exchange(home_, nullptr));
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

/// What the thread needs to begin and to end is made here, where there is somebody to tell when it
/// is not to be had.
void Executor::begin_os_thread(ContextRole role, ContextName name, Work& work) {
  std::list<Worker> made(1);
  Worker& worker = made.front();
  worker.work = &work;
  worker.place = made.begin();
  // Threads that have ended are joined as new ones come, so that services do not pile up.
  join(take_ended());
  worker.context = Context::take_for_thread();
  worker.context->executor = this;
  worker.context->name = name;
  worker.context->role = role;
  work.give_context(*worker.context);
  std::lock_guard lock(os_threads_mutex_);
  try {
    worker.thread = OsThread(options.stack_bytes, [this, &worker] { run_os_thread(worker); });
  } catch (...) {
    forget(*worker.context);
    throw;
  }
  os_threads_.splice(os_threads_.end(), made);
}

/// Its OS thread has ended, or never was.
void Executor::forget(Context& context) {
  context.forget_cancel();
  context.executor = nullptr;
  context.role = ContextRole::thread;
  Context::give_back_of_thread(context);
}

std::list<Executor::Worker> Executor::take_ended() {
  std::lock_guard lock(os_threads_mutex_);
  return std::exchange(ended_os_threads_, {});
}

/// Never under the mutex: what a thread leaves to be destroyed may start another one.
void Executor::join(std::list<Worker> ended) {
  for (Worker& worker : ended) worker.thread.join();
}

void Executor::run_os_thread(Worker& worker) {
  Context* context = worker.context;
  Context::set_current(context);
  context->stack = stack_of_this_thread();
  worker.work->ended(run(*worker.work));
  {
    std::lock_guard lock(os_threads_mutex_);  // from here on nobody cancels it
    ended_os_threads_.splice(ended_os_threads_.end(), os_threads_, worker.place);
    os_thread_ended_.notify_all();
  }
  forget(*context);
}

void Executor::end_os_threads() {
  std::unique_lock lock(os_threads_mutex_);
  while (!os_threads_.empty() || !ended_os_threads_.empty()) {
    for (Worker& worker : os_threads_) worker.context->cancel(nullptr);
    os_thread_ended_.wait(lock, [this] { return !ended_os_threads_.empty(); });
    auto ended = std::exchange(ended_os_threads_, {});
    lock.unlock();
    join(std::move(ended));
    lock.lock();
  }
}

void Executor::begin_run() { ending_.store(false); }

void Executor::end_run() {
  ending_.store(true);
  end_os_threads();
  end_services();
}

/// Cancels the fibers of the services and waits until there are none.
void Executor::end_services() {
  if (!runs_fibers()) return;
  std::unique_lock lock(no_fibers_mutex_);
  has_no_fibers_ = false;
  post([this] {
    cancel_everything(nullptr);
    is_waited_for_ = true;
    if (live_ == nullptr) tell_no_fibers();
  });
  no_fibers_.wait(lock, [this] { return has_no_fibers_; });
}

void Executor::tell_no_fibers() {
  if (!std::exchange(is_waited_for_, false)) return;
  std::lock_guard lock(no_fibers_mutex_);
  has_no_fibers_ = true;
  no_fibers_.notify_all();
}

// ---- switching -----------------------------------------------------------------------------

void Executor::suspend_current() {
  boost::fibers::context* self = boost::fibers::context::active();
  // The C++ runtime keeps exceptions being handled per OS thread; they belong to the fiber.
  struct Handled {
    void* caught;
    unsigned int uncaught;
  };
  auto* handled = reinterpret_cast<Handled*>(abi::__cxa_get_globals());
  const Handled mine = std::exchange(*handled, Handled{});
  self->suspend();
  *handled = mine;
  switch_.arrived(self->is_context(boost::fibers::type::main_context) ? nullptr : self);
}

// The OS thread's own context waits until no fiber is left.
void Executor::run_fibers() {
  while (live_ != nullptr || !(is_virtual() || stop_.load())) {
    home_ = boost::fibers::context::active();
    suspend_current();
  }
  dismiss_idle();
}

void Executor::make_ready(Context& context) {
  boost::fibers::context::active()->schedule(context.fiber_);
}

void Executor::add_timer(Nanos at, Context& context, std::uint64_t park_count) {
  // Waits that ended early leave their timers behind; without this a long deadline would pile up
  // one for every operation until it passes.
  if (timers_.size() >= timers_max_) {
    std::erase_if(timers_, [](const Timer& timer) { return !timer.is_awaited(); });
    std::make_heap(timers_.begin(), timers_.end(), std::greater<>());
    timers_max_ = std::max<std::size_t>(1024, 2 * timers_.size());
  }
  timers_.push_back({at, timer_order_++, &context, park_count});
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

bool Executor::Timer::is_awaited() const {
  return context->parked_ && context->park_count_ == park_count;
}

void Executor::fire_timers() {
  const Nanos time = now();
  while (!timers_.empty() && timers_.front().at <= time) {
    const Timer timer = timers_.front();
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
    timers_.pop_back();
    Context& context = *timer.context;
    if (!timer.is_awaited()) continue;  // woken before
    context.parked_ = false;
    context.timed_out_ = true;
    make_ready(context);
  }
}

void Executor::wake_in_order(std::vector<Context*> services, Wakes::Threads threads) {
  if (!runs_fibers() || is_virtual()) {
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
  if (self == nullptr) {  // what a waiting thread received completed it
    post([this, services = std::move(services), threads = std::move(threads)] {
      for (Context* service : services) service->unpark_fiber();
      later_.push_back([threads] { threads.wake(); });
    });
    return;
  }
  // An application thread completed the round. It takes its turn behind the services as well, or
  // its computation would hold up their replies on a busy machine.
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
  if (later_.empty() || !algorithm_->nothing_ready()) return;
  for (auto& work : std::exchange(later_, {})) work();
}

// ---- from outside --------------------------------------------------------------------------

void Executor::post(std::function<void()> work) {
  {
    std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(work));
    has_posted_.store(true);
  }
  notify();
}

void Executor::post_unpark(Context& context) {
  {
    std::lock_guard lock(posted_mutex_);
    unparked_.push_back(&context);
    has_posted_.store(true);
  }
  notify();
}

void Executor::notify() {
  if (is_virtual()) return;
  if (state_.exchange(notified) != sleeping) return;
  const std::uint64_t one = 1;
  ENSURE_EQ(write(event_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

void Executor::run_posted() {
  if (!has_posted_.load()) return;
  {
    std::lock_guard lock(posted_mutex_);
    posted_now_.swap(posted_);
    unparked_now_.swap(unparked_);
    has_posted_.store(false);
  }
  launch_begun();  // what comes from now on says so again
  struct Forget {  // also when one throws
    Executor& executor;
    ~Forget() {
      executor.posted_now_.clear();
      executor.unparked_now_.clear();
    }
  } const forget{*this};
  for (Context* context : unparked_now_) context->unpark_fiber();
  for (auto& work : posted_now_) work();
}

void Executor::watch(int descriptor, std::function<void()> on_readable) {
  ENSURE(!is_virtual());
  post([this, descriptor, on_readable = std::move(on_readable)]() mutable {
    watched_[descriptor] = std::move(on_readable);
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.fd = descriptor;
    ENSURE_EQ(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &interest), 0);
  });
}

void Executor::unwatch(int descriptor) {
  ENSURE(on_own_thread());
  watched_.erase(descriptor);
  epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

// Runs on the dispatcher's stack, in no context.
void Executor::poll() {
  Context::set_current(nullptr);
  run_callback([this] {
    run_posted();
    if (is_virtual()) {
      if (!deadlock_ && stands_still()) cancel_as_deadlock(standstill_report());
    } else {
      fire_timers();
      // Fibers that are always ready would starve the sockets, which idle() looks at otherwise.
      if (!algorithm_->nothing_ready()) look_at_descriptors(false);
    }
    wake_later();
  });
}

void Executor::idle() {
  Context::set_current(nullptr);
  if (is_virtual()) {
    jump_to_next_timer();
  } else {
    sleep_in_kernel();
  }
}

void Executor::jump_to_next_timer() {
  while (!timers_.empty()) {
    const Timer& next = timers_.front();
    if (next.is_awaited()) {
      if (next.at > virtual_now_) {
        virtual_now_ = next.at;
        ++instant_;
        earlier_runs_ += std::exchange(runs_, 0);
        runs_of_services_ = 0;
        live_most_ = live_count_;
      }
      fire_timers();
      return;
    }
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
    timers_.pop_back();
  }
  if (live_ == nullptr) return;
  if (deadlock_ || ending_.load())  // Tasks that destroy each other, for example
    base::report_bug(__FILE__, __LINE__, "contexts that were cancelled wait: " + deadlock_report());
  cancel_as_deadlock(deadlock_report());
}

void Executor::cancel_as_deadlock(const std::string& report) {
  deadlock_ = std::make_exception_ptr(Deadlock(report));
  cancel_everything(deadlock_);
}

void Executor::count_run(Context& context) {
  if (std::exchange(context.instant_, instant_) != instant_) context.runs_ = 0;
  ++context.runs_;
  ++runs_;
  runs_of_services_ = context.role == ContextRole::service ? runs_of_services_ + 1 : 0;
}

/// A join of a million contexts wakes each of them a few times at one time, so that what is usual
/// grows with their number. Services that run while no thread does get nobody any further; threads
/// may well do many rounds that take no time, and so are given more of them.
bool Executor::stands_still() const {
  constexpr std::uint64_t usual = 1'000'000, usual_of_each = 16, threads_may = 20;
  const std::uint64_t most = std::max(usual, usual_of_each * live_most_);
  return runs_of_services_ > most || runs_ > threads_may * most;
}

void Executor::cancel_everything(std::exception_ptr reason) {
  for (Context* context = live_; context != nullptr; context = context->next_)
    context->cancel(reason);
}

void Executor::sleep_in_kernel() {
  int expected = running;
  // Whoever posts from now on finds us sleeping and writes the event.
  if (state_.compare_exchange_strong(expected, sleeping)) look_at_descriptors(true);
  state_.store(running);
}

void Executor::look_at_descriptors(bool waits) {
  timespec timeout{};
  timespec* limit = waits ? nullptr : &timeout;
  if (waits && !timers_.empty()) {
    const Nanos left = std::max(Nanos{0}, timers_.front().at - now());
    timeout.tv_sec = left.count() / 1'000'000'000;
    timeout.tv_nsec = left.count() % 1'000'000'000;
    limit = &timeout;
  }
  epoll_event events[32];
  const int count = wait_for_events(epoll_, events, limit);
  if (waits) state_.store(running);
  ENSURE(count >= 0 || errno == EINTR);
  for (int i = 0; i < count; ++i) {
    const int descriptor = events[i].data.fd;
    if (descriptor == event_) {
      std::uint64_t ignored;
      [[maybe_unused]] auto bytes = read(event_, &ignored, sizeof ignored);
      continue;
    }
    const auto watched = watched_.find(descriptor);
    if (watched == watched_.end()) continue;
    const auto on_readable = watched->second;  // it may unwatch itself
    run_callback(on_readable);
  }
}

// ---- the two loops -------------------------------------------------------------------------

void Executor::run_virtual(const std::function<void()>& main) {
  ENSURE(own_thread_.load() == std::thread::id());  // one run() at a time
  Context* caller = Context::current();
  const AlternateStack for_signals;
  ending_ = false;
  deadlock_ = nullptr;
  ++instant_;
  runs_ = runs_of_services_ = 0;
  own_thread_.store(std::this_thread::get_id());
  const Watchdog watchdog(*this);
  boost::fibers::use_scheduling_algorithm<Algorithm>(this);
  Task task;
  std::exception_ptr error;
  try {
    const std::size_t stack_bytes = std::max(options.stack_bytes, thread_stack_bytes);
    task = spawn_with(ContextRole::thread, {"main", {}, 0}, stack_bytes, [this, &main] {
      struct AtEnd {
        Executor& executor;
        ~AtEnd() {
          executor.ending_ = true;
          executor.cancel_everything(nullptr);
        }
      } at_end{*this};
      main();
    });
  } catch (...) {
    error = std::current_exception();
  }
  run_fibers();
  algorithm_ = nullptr;
  boost::fibers::use_scheduling_algorithm<boost::fibers::algo::round_robin>();
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
    services_loop();
  });
  while (own_thread_.load() == std::thread::id()) std::this_thread::yield();
}

void Executor::services_loop() {
  if (!runs_fibers()) {
    for (run_posted(); !stop_.load(); run_posted()) sleep_in_kernel();
    return;
  }
  boost::fibers::use_scheduling_algorithm<Algorithm>(this);
  run_fibers();
}

void Executor::stop_services_thread() {
  if (!services_thread_.joinable()) return;
  ending_.store(true);
  end_os_threads();
  post([this] {
    stop_.store(true);
    cancel_everything(nullptr);
    if (live_ == nullptr && home_ != nullptr)
      boost::fibers::context::active()->schedule(std::exchange(home_, nullptr));
  });
  services_thread_.join();
}

}  // namespace runtime
