// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/steady_clock.cpp — timers, descriptors and wake-ups in real time
#include "runtime/scheduler/steady_clock.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <utility>

#include "base/errors.hpp"
#include "runtime/scheduler/executor.hpp"

namespace runtime {

SteadyClock::SteadyClock(Executor& executor, const Scheduler& scheduler)
    : executor_(executor), scheduler_(scheduler), origin_(std::chrono::steady_clock::now()) {}

Nanos SteadyClock::roughly_now() const {
  timespec last_tick{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &last_tick);  // time of the kernel's last timer tick
  return std::chrono::seconds(last_tick.tv_sec) + Nanos(last_tick.tv_nsec) -
         origin_.time_since_epoch();
}

Nanos SteadyClock::utc_at_zero() const {
  return std::chrono::system_clock::now().time_since_epoch() - now();
}

Nanos SteadyClock::on_steady_clock(Nanos when) const {
  const Nanos zero = origin_.time_since_epoch();
  return when > Nanos::max() - zero ? Nanos::max() : when + zero;
}

void SteadyClock::poll() {
  timers.fire(now());
  // While fibers are ready, idle() does not run, so this call handles the readable sockets.
  if (scheduler_.has_ready()) reactor_.look();
  wake_threads();
}

void SteadyClock::idle() {
  const Nanos next = timers.next();
  reactor_.sleep(next == Nanos::max() ? next : std::max(Nanos{0}, next - now()));
}

void SteadyClock::watch(int descriptor, std::function<void()> on_readable) {
  executor_.post([this, descriptor, on_readable = std::move(on_readable)]() mutable {
    reactor_.watch(descriptor, std::move(on_readable));
  });
}

void SteadyClock::unwatch(int descriptor) {
  ENSURE(executor_.on_own_thread());
  reactor_.unwatch(descriptor);
}

void SteadyClock::wake_in_order(std::vector<Context*> services, DeferredWakes::Threads threads) {
  if (executor_.on_own_thread()) {
    for (Context* service : services) service->unpark();
    threads_.push_back([threads = std::move(threads)] { threads.wake(); });
    return;
  }
  Context* self = Context::current();
  if (self == nullptr) {  // no current context: the caller is a thread that waits and polls
    executor_.post([this, services = std::move(services), threads = std::move(threads)] {
      for (Context* service : services) service->unpark();
      threads_.push_back([threads] { threads.wake(); });
    });
    return;
  }
  // The caller is an application thread. It blocks until the services have run, because on a busy
  // machine its computation would delay the replies of the services.
  std::atomic<bool> my_turn{false};
  executor_.post(
      [this, &my_turn, self, services = std::move(services), threads = std::move(threads)] {
        for (Context* service : services) service->unpark();
        threads_.push_back([&my_turn, self, threads] {
          threads.wake();
          my_turn.store(true, std::memory_order_release);
          self->unpark();
        });
      });
  const Reason reason{"its turn behind the services"};
  while (!my_turn.load(std::memory_order_acquire)) self->park(Nanos::max(), reason);
}

void SteadyClock::wake_threads() {
  if (threads_.empty() || scheduler_.has_ready()) return;
  for (auto& wake : std::exchange(threads_, {})) wake();
}

}  // namespace runtime
