// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/context.cpp — parking and waking of fibers and OS threads
#include "runtime/scheduler/context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "runtime/polling/polling.hpp"
#include "runtime/scheduler/executor.hpp"

namespace runtime {
namespace {

// Maximum number of Stop exceptions that the waits of a cancelled context throw before the process
// ends. A few such exceptions are normal: while the stack unwinds, each destructor may wait again,
// and each wait throws.
constexpr int stops_max = 10'000;

thread_local Context* current_context = nullptr;

// The context of an OS thread that the runtime did not start, such as main. The thread gets it on
// first use and gives it back when it ends. Contexts are never freed.
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
  if (context != nullptr) Context::leave_at_end(*context);
}
thread_local ForeignThread foreign_thread;
thread_local bool in_callbacks = false;

/// Ends the process, because a cancelled context catches each Stop and waits again. The context
/// cannot be ended in any other way, and the objects that it uses cannot be destroyed before it
/// ends.
[[noreturn]] void end_process(const ContextName& name, const std::exception_ptr& reason) {
  std::string why = "cancelled";
  try {
    if (reason) std::rethrow_exception(reason);
  } catch (const Stop& stop) {
    why = stop.what();
  } catch (const std::exception& error) {
    why = error.what();
  }
  const std::string text = fmt::format(
      "{} keeps waiting after it was stopped, {} times by now, so this process must end: its code "
      "catches every exception (catch (...)) and continues; runtime::Stop must pass\nreason of the "
      "stop: {}\n",
      name.text(), stops_max, why);
  std::fputs(text.c_str(), stderr);
  std::_Exit(1);
}

}  // namespace

Context* Context::current() {
  if (current_context != nullptr || in_callbacks) return current_context;
  if (foreign_thread.context == nullptr) {
    foreign_thread.context = take_for_thread();
    const bool is_main = gettid() == getpid();
    foreign_thread.context->name = {is_main ? "main thread" : "a thread of the program's own"};
  }
  return foreign_thread.context;
}

Context* Context::take_for_thread() {
  std::lock_guard lock(foreign_mutex);
  KnownThreads::add();
  if (foreign_free().empty()) {
    auto made = std::make_unique<Context>();
    made->futex_ = &Futex::take();
    return made.release();
  }
  Context* context = foreign_free().back();
  foreign_free().pop_back();
  return context;
}

void Context::give_back_of_thread(Context& context) {
  if (current_context == &context) current_context = nullptr;
  KnownThreads::remove();
  std::lock_guard lock(foreign_mutex);
  foreign_free().push_back(&context);
}

void Context::leave_at_end(Context& context) {
  if (context.executor == nullptr) return give_back_of_thread(context);
  KnownThreads::remove();
  context.has_ended_.store(true, std::memory_order_release);
}

void Context::give_back_of_ended(Context& context) {
  context.executor = nullptr;
  context.forget_cancel();
  context.has_ended_.store(false, std::memory_order_relaxed);
  std::lock_guard lock(foreign_mutex);
  foreign_free().push_back(&context);
}

void Context::set_current(Context* context) {
  current_context = context;
  // An executor passes nullptr before it runs a callback. The current context is also nullptr in a
  // thread that the runtime did not start. `in_callbacks` distinguishes the two.
  in_callbacks = context == nullptr;
}

const Context* Context::running() noexcept { return current_context; }

bool Context::park(Nanos until, const Reason& reason) {
  return is_fiber ? park_fiber(until, reason) : park_thread(until, reason, true);
}

bool Context::sleep(Nanos until, const Reason& reason) {
  return is_fiber ? park_fiber(until, reason) : park_thread(until, reason, false);
}

bool Context::park_fiber(Nanos until, const Reason& reason) {
  if (token_ || sees_cancel()) {
    token_ = false;
    return true;
  }
  waits_.change();
  timed_out_ = false;
  reason_ = &reason;
  if (until != Nanos::max()) executor->clock().timers.add(until, *this, waits_.value());
  executor->suspend_current();
  set_current(this);
  executor->clock().count_run(*this);
  reason_ = nullptr;
  return !timed_out_;
}

/// Makes the caller ready through the inbox of the executor, not directly. The dispatcher empties
/// the inbox, and then also handles readable descriptors. A caller that is ready directly could
/// continue without a run of the dispatcher.
void Context::yield() {
  if (cancelled_.load(std::memory_order_acquire)) return;
  token_ = false;  // discards a wake-up of an earlier wait, which came too late
  executor->post_unpark(*this);
  const Reason reason{"its turn behind other services"};
  park_fiber(Nanos::max(), reason);
}

bool Context::park_thread(Nanos until, const Reason& reason, bool may_poll) {
  const bool in_time = wait_at(*futex_, seen_, until, reason, may_poll);
  seen_ = futex_->value();
  return in_time;
}

/// The store is sequentially consistent and pairs with cancel(). Either this thread sees
/// `cancelled_`, or cancel() sees `waits_at_` and wakes the thread that waits at that futex.
bool Context::park_at(Futex& futex, std::uint32_t seen, Nanos until, const Reason& reason) {
  waits_at_.store(&futex, std::memory_order_seq_cst);
  const bool in_time = wait_at(futex, seen, until, reason, true);
  waits_at_.store(nullptr, std::memory_order_relaxed);
  return in_time;
}

bool Context::wait_at(Futex& futex, std::uint32_t seen, Nanos until, const Reason& reason,
                      bool may_poll) {
  if (sees_cancel()) return true;
  // Without an executor there is no clock for `until`.
  ENSURE(executor != nullptr || until == Nanos::max());
  Looks looks;
  if (executor != nullptr) {
    until = executor->clock().on_steady_clock(until);
    looks.may = may_poll && executor->options.waiting == Waiting::adaptive;
    looks.pollers = &executor->pollers;
    looks.context = this;
  }
  return futex.wait(seen, until, reason, looks);
}

Pollers::Looking* Context::attention() {
  if (attentions_ == 0 || executor == nullptr) return nullptr;
  if (executor->options.waiting != Waiting::adaptive) return nullptr;
  if (!looking_) looking_.emplace(&executor->pollers);
  return &*looking_;
}

BusyPollScope::BusyPollScope() : self_(Context::current()) {
  if (self_ == nullptr || self_->is_fiber) return;
  ++self_->attentions_;
  self_->attention();
}

BusyPollScope::~BusyPollScope() {
  if (self_ == nullptr || self_->is_fiber) return;
  if (--self_->attentions_ == 0) self_->lapse();
}

void Context::unpark() {
  if (!is_fiber) {
    futex_->change();
    if (Futex* const other = waits_at_.load(std::memory_order_seq_cst)) other->change();
  } else if (executor->on_own_thread()) {
    unpark_fiber();
  } else {
    executor->post_unpark(*this);
  }
}

void Context::unpark_fiber() {
  if (!waits_.is_waiting()) {
    token_ = true;
    return;
  }
  waits_.change();
  make_ready();
}

void Context::make_ready() { boost::fibers::context::active()->schedule(fiber_); }

void Context::cancel(std::exception_ptr reason) {
  {
    std::lock_guard lock(cancel_mutex_);
    if (!cancelled_.load(std::memory_order_relaxed)) cancel_reason_ = std::move(reason);
    cancelled_.store(true, std::memory_order_seq_cst);
  }
  unpark();
}

/// The load is sequentially consistent, because it must not be reordered before the store to
/// `waits_at_` in park_at().
bool Context::sees_cancel() const {
  return cancelled_.load(std::memory_order_seq_cst) && shields_ == 0;
}

void Context::throw_if_cancelled() {
  if (!sees_cancel()) return;
  std::exception_ptr reason;
  {
    std::lock_guard lock(cancel_mutex_);
    reason = cancel_reason_;
  }
  if (++stops_ > stops_max) end_process(name, reason);
  if (reason) std::rethrow_exception(reason);
  throw Cancelled();
}

void Context::forget_cancel() {
  if (!cancelled_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(cancel_mutex_);
  cancelled_.store(false, std::memory_order_release);
  cancel_reason_ = nullptr;
  stops_ = 0;
}

std::string ContextName::text() const {
  if (of.empty()) return std::string(role);
  return fmt::format("{} {}/{}", role, of, number);
}

const void* calling_context() { return Context::current(); }

void yield_to_services() {
  Context* const self = Context::current();
  if (self != nullptr && self->is_fiber && self->executor->is_parallel()) self->yield();
}

bool is_inside_a_run() {
  const Context* context = Context::current();
  return context == nullptr || context->executor != nullptr;
}

std::string describe_current_context() {
  const Context* context = Context::current();
  if (context == nullptr) return "callback of the services";
  if (context->executor == nullptr) return context->name.text();
  return fmt::format("{} at {}", context->name.text(),
                     base::format_time(context->executor->clock().now()));
}

}  // namespace runtime
