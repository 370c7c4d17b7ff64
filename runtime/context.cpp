// SPDX-License-Identifier: Apache-2.0
// runtime/context.cpp — parking and waking, for fibers and for OS threads.
#include "runtime/context.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "runtime/executor.hpp"

namespace runtime {
namespace {

thread_local Context* current_context = nullptr;

// Contexts of OS threads that the runtime did not start (main, a test's own): made on first use,
// given back when the thread ends, never freed.
struct ForeignThread {
  Context* context = nullptr;
  ~ForeignThread();
};
std::mutex foreign_mutex;
std::vector<Context*>& foreign_free() {
  static auto& list = *new std::vector<Context*>;
  return list;
}
ForeignThread::~ForeignThread() {
  if (context == nullptr) return;
  std::lock_guard lock(foreign_mutex);
  foreign_free().push_back(context);
}
thread_local ForeignThread foreign_thread;
thread_local bool in_callbacks = false;

Context* foreign_context() {
  if (foreign_thread.context == nullptr) {
    std::lock_guard lock(foreign_mutex);
    if (foreign_free().empty()) {
      foreign_thread.context = new Context;
    } else {
      foreign_thread.context = foreign_free().back();
      foreign_free().pop_back();
    }
    foreign_thread.context->name = {"main thread", {}, 0};
  }
  return foreign_thread.context;
}

}  // namespace

Context* Context::current() {
  if (current_context != nullptr || in_callbacks) return current_context;
  return foreign_context();
}

void Context::set_current(Context* context) {
  current_context = context;
  // Once an executor has set it, "none" means a callback and not a foreign thread.
  in_callbacks = context == nullptr;
}

bool Context::park(Nanos until, const Reason& reason) {
  if (!is_fiber) return park_thread(until);
  if (token_ || cancelled_.load(std::memory_order_acquire)) {
    token_ = false;
    return true;
  }
  parked_ = true;
  timed_out_ = false;
  reason_ = &reason;
  ++park_count_;
  if (until != Nanos::max()) executor->add_timer(until, *this, park_count_);
  executor->suspend_current();
  set_current(this);
  reason_ = nullptr;
  return !timed_out_;
}

// The waiter and who wakes it may both be the first to need it.
Context::Sleeper& Context::own_sleeper() {
  std::lock_guard lock(cancel_mutex_);
  if (!sleeper_) sleeper_ = std::make_unique<Sleeper>();
  return *sleeper_;
}

bool Context::park_thread(Nanos until) {
  Sleeper& sleeper = own_sleeper();
  std::unique_lock lock(sleeper.mutex);
  auto woken = [&] { return sleeper.token || cancelled_.load(std::memory_order_acquire); };
  bool in_time = true;
  if (until == Nanos::max()) {
    sleeper.awake.wait(lock, woken);
  } else {
    ENSURE(executor != nullptr);  // whose clock `until` is on
    in_time = sleeper.awake.wait_until(lock, executor->origin() + until, woken);
  }
  sleeper.token = false;
  return in_time;
}

void Context::unpark() {
  if (!is_fiber) {
    Sleeper& sleeper = own_sleeper();
    std::lock_guard lock(sleeper.mutex);
    sleeper.token = true;
    sleeper.awake.notify_one();
  } else if (executor->on_own_thread()) {
    unpark_fiber();
  } else {
    executor->post_unpark(*this);
  }
}

void Context::unpark_fiber() {
  if (!parked_) {
    token_ = true;
    return;
  }
  parked_ = false;
  executor->make_ready(*this);
}

void Context::cancel(std::exception_ptr reason) {
  {
    std::lock_guard lock(cancel_mutex_);
    if (!cancelled_.load(std::memory_order_relaxed)) cancel_reason_ = std::move(reason);
    cancelled_.store(true, std::memory_order_release);
  }
  unpark();
}

void Context::throw_if_cancelled() {
  if (!cancelled_.load(std::memory_order_acquire)) return;
  std::exception_ptr reason;
  {
    std::lock_guard lock(cancel_mutex_);
    cancelled_.store(false, std::memory_order_release);
    reason = std::exchange(cancel_reason_, nullptr);
  }
  if (reason) std::rethrow_exception(reason);
  throw Cancelled();
}

std::string ContextName::text() const {
  if (of.empty()) return std::string(role);
  return fmt::format("{} {}/{}", role, of, number);
}

std::string describe_current_context() {
  const Context* context = Context::current();
  if (context == nullptr) return "callback of the services";
  if (context->executor == nullptr) return context->name.text();
  return fmt::format("{} at {}", context->name.text(), base::format_time(context->executor->now()));
}

}  // namespace runtime
