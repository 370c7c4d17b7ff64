// SPDX-License-Identifier: Apache-2.0
// runtime/runtime.cpp — public interface of the runtime
#include "runtime/runtime.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "base/errors.hpp"
#include "base/say.hpp"
#include "base/units.hpp"
#include "base/usage_error.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/executor.hpp"
#include "runtime/stacks/stack_guard.hpp"

namespace runtime {

Runtime::Runtime(RuntimeOptions options) {
  base::set_context_line(&describe_current_context);
  if (options.says_overflows) say_stack_overflows();
  executor_ = std::make_unique<Executor>(options);
}

Runtime::~Runtime() = default;

bool Runtime::is_virtual() const { return executor_->options.clock == ClockKind::virtual_time; }
bool Runtime::is_parallel() const { return executor_->is_parallel(); }
Nanos Runtime::now() const { return executor_->clock().now(); }

Nanos Runtime::roughly_now() const { return executor_->clock().roughly_now(); }

std::uint64_t Runtime::events() const { return executor_->clock().events(); }

Nanos Runtime::utc_at_zero() const { return executor_->clock().utc_at_zero(); }

Nanos Runtime::steady_at_zero() const { return executor_->clock().on_steady_clock(Nanos{0}); }

std::string utc_text() {
  const std::time_t seconds =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

void Runtime::sleep_until(Nanos when) {
  Context* self = Context::current();
  ENSURE(self != nullptr && self->executor == executor_.get());
  const Reason reason{"the time"};
  while (now() < when) {
    self->sleep(when, reason);
    self->throw_if_cancelled();
  }
}

void Runtime::sleep_for(Nanos span) {
  const Nanos begin = now();
  if (span > Nanos::max() - begin)
    throw std::overflow_error(fmt::format("cannot sleep for {} at {}: the clock ends at {}",
                                          base::format_time(span), base::format_time(begin),
                                          base::format_time(Nanos::max())));
  sleep_until(begin + span);
}

void Runtime::run(std::function<void()> main) { executor_->run(main); }

void Runtime::open() { executor_->begin_run(); }
void Runtime::close() { executor_->end_run(); }

bool Runtime::is_deadlocked() const { return executor_->clock().deadlock() != nullptr; }

Task Runtime::spawn(ContextRole role, ContextName name, std::function<void()> work) {
  const bool is_thread = role == ContextRole::thread;
  return executor_->spawn(role, name,
                          is_thread ? executor_->options.stack_bytes : service_stack_bytes,
                          std::move(work));
}

void Runtime::begin(ContextName name, Work& work) {
  executor_->begin(ContextRole::service, name, service_stack_bytes, work);
}

void Runtime::wake_from_outside(std::function<void()> work) { executor_->post(std::move(work)); }

void Runtime::watch(int descriptor, std::function<void()> on_readable) {
  executor_->clock().watch(descriptor, std::move(on_readable));
}
void Runtime::unwatch(int descriptor) { executor_->clock().unwatch(descriptor); }

void Runtime::add_poller(Poller& poller) { executor_->pollers.add(poller); }
void Runtime::remove_poller(Poller& poller) { executor_->pollers.remove(poller); }

bool Runtime::on_services_thread() const { return executor_->on_own_thread(); }

namespace {

Context& context_of_visitor() {
  if (is_inside_a_run())
    throw base::UsageError("a thread of a run, or one that is attached, may not begin another");
  return *Context::current();
}

}  // namespace

ThreadAttachment::ThreadAttachment(Runtime& runtime, ContextName name)
    : context_(context_of_visitor()), name_before_(std::exchange(context_.name, name)) {
  ENSURE(runtime.executor_->is_parallel());
  context_.executor = runtime.executor_.get();
}

ThreadAttachment::~ThreadAttachment() {
  context_.name = name_before_;
  if (has_thread_ended()) {
    Context::give_back_of_ended(context_);
    return;
  }
  ENSURE(is_of_caller());
  context_.executor = nullptr;
  context_.forget_cancel();
}

bool ThreadAttachment::is_of_caller() const { return Context::current() == &context_; }

bool ThreadAttachment::has_thread_ended() const { return context_.has_ended(); }

bool Task::done() const {
  Lock lock(state_->mutex);
  return state_->done;
}

void Task::join() {
  Lock lock(state_->mutex);
  while (!state_->done) state_->joiners.wait(lock, Deadline::never(), Reason{"the end of a task"});
  std::exception_ptr error = state_->error;
  lock.unlock();
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const Cancelled&) {  // cancel() and the end of the run are no errors of the work
  }
}

void Task::cancel(std::exception_ptr reason) { state_->stop(std::move(reason)); }

TaskCanceller Task::canceller() const { return TaskCanceller(state_); }

Task& Task::operator=(Task&& other) noexcept {
  if (this == &other) return *this;
  end();
  state_ = std::move(other.state_);
  return *this;
}

void Task::end() noexcept {
  if (const auto ended = std::move(state_)) ended->end();
}

void TaskCanceller::cancel(std::exception_ptr reason) { state_->stop(std::move(reason)); }

namespace {

/// Prints the exception of work that has no owner. No thread joins such work, so no caller gets the
/// exception.
void say_unowned(const std::exception_ptr& thrown) {
  std::string what = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(thrown);
  } catch (const Stop&) {
    return;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  base::say(fmt::format("{}: a detached task threw: {}\n", describe_current_context(), what));
}

}  // namespace

void Task::State::ended(std::exception_ptr thrown) {
  const auto held = std::move(self);
  work = nullptr;  // destroyed before join() returns: captures may use data of join()'s caller
  if (thrown && held.use_count() == 1) say_unowned(thrown);
  DeferredWakes wakes;
  Lock lock(mutex);
  let_go();
  done = true;
  error = std::move(thrown);
  joiners.wake_all(wakes);
}

void Task::State::stop(std::exception_ptr reason) {
  Lock lock(mutex);
  if (!done) cancel(std::move(reason));
}

void Task::State::end() {
  Context* const caller = Context::current();
  Lock lock(mutex);
  if (done) return;
  constexpr std::string_view remedy = "before that, join it or call detach()";
  if (caller == nullptr)
    base::report_bug(__FILE__, __LINE__,
                     fmt::format("a callback, which may not wait, destroys a Task whose work has "
                                 "not ended; {}",
                                 remedy));
  if (runs_in(*caller))
    base::report_bug(__FILE__, __LINE__,
                     fmt::format("the work of a Task destroys the Task; {}", remedy));
  cancel();
  const Context::CancelShield shield(*caller);
  while (!done)
    joiners.wait(lock, Deadline::never(), Reason{"the end of a task that it cancelled"});
}

void Work::give_context(Context& context) {
  context_.store(&context);
  if (is_cancelled_.exchange(false)) context.cancel(std::move(reason_));
}

void Work::cancel(std::exception_ptr reason) {
  if (Context* const context = context_.load()) return context->cancel(std::move(reason));
  if (!is_cancelled_.load()) reason_ = std::move(reason);  // only the first reason is kept
  is_cancelled_.store(true);
  if (Context* const context = context_.load(); context != nullptr && is_cancelled_.exchange(false))
    context->cancel(std::move(reason_));
}

}  // namespace runtime
