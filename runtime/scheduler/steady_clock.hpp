// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/steady_clock.hpp — real time, and the sleep until something is due
#pragma once
#include <chrono>
#include <functional>
#include <vector>

#include "runtime/scheduler/clock.hpp"
#include "runtime/scheduler/reactor.hpp"

namespace runtime {

class Executor;
class Scheduler;

/// Real time since the executor was created. Private to runtime/.
class SteadyClock final : public Clock {
 public:
  /// Requires: the executor and its scheduler outlive this object.
  SteadyClock(Executor& executor, const Scheduler& scheduler);

  Nanos now() const override { return std::chrono::steady_clock::now() - origin_; }
  Nanos roughly_now() const override;
  Nanos utc_at_zero() const override;
  Nanos on_steady_clock(Nanos when) const override;
  Nanos end_of(Deadline deadline) const override { return deadline.at; }

  void begin_run() override {}
  void count_run(Context&) override {}
  std::uint64_t events() const override { return 0; }
  std::exception_ptr deadlock() const override { return nullptr; }

  void poll() override;
  void idle() override;
  void notify() override { reactor_.notify(); }

  void watch(int descriptor, std::function<void()> on_readable) override;
  void unwatch(int descriptor) override;

  void wake_in_order(std::vector<Context*> services, DeferredWakes::Threads threads) override;

 private:
  void wake_threads();

  Executor& executor_;
  const Scheduler& scheduler_;
  const std::chrono::steady_clock::time_point origin_;
  Reactor reactor_;
  // Wake-ups of threads to carry out once no fiber is ready. Only the executor's OS thread uses it.
  std::vector<std::function<void()>> threads_;
};

}  // namespace runtime
