// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/scheduler.cpp — fibers of Boost.Fiber, and the order in which they run
#include "runtime/scheduler/scheduler.hpp"

#include <cxxabi.h>

#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/algo/round_robin.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/scheduler.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/fiber_launch.hpp"
#include "runtime/stacks/stack_pool.hpp"

namespace runtime {

/// Runs fibers in the order in which they became ready. The dispatcher of Boost.Fiber is a context
/// of its own, which calls the scheduler's owner (SchedulerOwner). The dispatcher runs if no fiber
/// is ready. It also runs after every `picks_max` fibers, because sockets would starve otherwise.
class Scheduler::Algorithm final : public boost::fibers::algo::algorithm {
 public:
  explicit Algorithm(Scheduler* scheduler) : scheduler_(scheduler) { scheduler->algorithm_ = this; }

  void awakened(boost::fibers::context* context) noexcept override {
    if (context->is_context(boost::fibers::type::dispatcher_context)) {
      dispatcher_ = context;
    } else {
      context->ready_link(ready_);
    }
  }

  /// Not instrumented by the thread sanitizer, because it returns in another fiber (StackSwitch).
  __attribute__((no_sanitize("thread"))) boost::fibers::context* pick_next() noexcept override {
    const bool on_dispatcher =
        boost::fibers::context::active()->is_context(boost::fibers::type::dispatcher_context);
    if (on_dispatcher) {
      scheduler_->switch_.arrived(boost::fibers::context::active());
      picks_ = 0;
      scheduler_->owner_.poll();
    }
    boost::fibers::context* next = nullptr;
    if (!ready_.empty() && (dispatcher_ == nullptr || ++picks_ < picks_max)) {
      next = &ready_.front();
      ready_.pop_front();
    } else {
      next = std::exchange(dispatcher_, nullptr);
    }
    // False while detach() moves the fibers to another algorithm.
    const bool is_switch = scheduler_->algorithm_ == this;
    if (next != nullptr && is_switch)
      scheduler_->switch_.leave_for(next, next->is_context(boost::fibers::type::main_context));
    return next;
  }

  bool has_ready_fibers() const noexcept override {
    return !ready_.empty() || dispatcher_ != nullptr;
  }
  bool nothing_ready() const { return ready_.empty(); }

  void suspend_until(const std::chrono::steady_clock::time_point&) noexcept override {
    scheduler_->owner_.idle();
  }
  void notify() noexcept override { scheduler_->owner_.notify(); }

 private:
  static constexpr int picks_max = 256;
  Scheduler* scheduler_;
  boost::fibers::scheduler::ready_queue_type ready_;
  boost::fibers::context* dispatcher_ = nullptr;
  int picks_ = 0;
};

namespace {

/// Contexts for reuse. Contexts outlive their fibers (see Context) and are never freed.
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

}  // namespace

// ---- start and end of a fiber --------------------------------------------------------------

Context& Scheduler::make(std::size_t stack_bytes) {
  const StackBounds stack = StackPool::allocate(stack_bytes);
  Context& context = *FreeContexts::take();
  context.is_fiber = true;
  context.stack = stack;
  return context;
}

void Scheduler::launch(Context& context) {
  live.add(context);
  launch_fiber(context.stack, [this, &context] {
    run_fiber(context);
    FreeContexts::give_back(context);
  });
}

Context* Scheduler::take_idle() {
  if (idle_.empty()) return nullptr;
  Context* const context = idle_.back();
  idle_.pop_back();
  return context;
}

void Scheduler::reuse(Context& context) {
  live.add(context);
  context.make_ready();
}

void Scheduler::run_fiber(Context& context) {
  context.fiber_ = boost::fibers::context::active();
  switch_.arrived(context.fiber_);
  do {
    context.token_ = false;
    owner_.run_work(context);
    live.remove(context);
    if (!live.empty()) continue;
    owner_.none_lives();
    if (home_ != nullptr) make_home_ready();
  } while (wait_for_work(context));
}

/// Suspends the calling fiber until it gets other work. Returns false if the fiber must end. A
/// fiber that another thread started must end immediately: starts by other threads never reuse idle
/// fibers, so each such start would add an idle fiber.
bool Scheduler::wait_for_work(Context& context) {
  const bool may_wait = !context.from_outside_ && context.role == ContextRole::service;
  if (!may_wait || is_stopped_ || idle_.size() >= idle_max) return false;
  idle_.push_back(&context);
  suspend_current();
  if (context.work_ != nullptr) return true;
  if (--leaving_ == 0) make_home_ready();
  return false;
}

// ---- attachment to the OS thread -----------------------------------------------------------

void Scheduler::attach() {
  thread_.store(std::this_thread::get_id());
  switch_.begin();
  boost::fibers::use_scheduling_algorithm<Algorithm>(this);
}

void Scheduler::detach() {
  algorithm_ = nullptr;
  boost::fibers::use_scheduling_algorithm<boost::fibers::algo::round_robin>();
  thread_.store(std::thread::id());
}

void Scheduler::run(bool until_stopped) {
  while (!live.empty() || (until_stopped && !is_stopped_)) {
    home_ = boost::fibers::context::active();
    suspend_current();
  }
  dismiss_idle();
}

void Scheduler::dismiss_idle() {
  leaving_ = idle_.size();
  for (Context* context : std::exchange(idle_, {})) context->make_ready();
  if (leaving_ == 0) return;
  home_ = boost::fibers::context::active();
  suspend_current();
}

void Scheduler::make_home_ready() {
  boost::fibers::context::active()->schedule(std::exchange(home_, nullptr));
}

void Scheduler::stop() {
  is_stopped_ = true;
  live.cancel(nullptr);
  if (live.empty() && home_ != nullptr) make_home_ready();
}

void Scheduler::suspend_current() {
  boost::fibers::context* self = boost::fibers::context::active();
  // The C++ runtime stores the exceptions that are being handled once per OS thread, but each fiber
  // handles its own. A fiber therefore saves them here and restores them when it continues.
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

bool Scheduler::has_ready() const { return !algorithm_->nothing_ready(); }

}  // namespace runtime
