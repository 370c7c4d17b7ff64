// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/virtual_clock.hpp — simulated time, and the jumps by which it passes
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "runtime/scheduler/clock.hpp"

namespace runtime {

class LiveContexts;

/// The simulated time of an executor. If no fiber is ready, time jumps to the next timer. If there
/// is no timer, or time stands still for ever, all contexts are cancelled as a deadlock. Private to
/// runtime/.
///
/// Thread-safe: no, because a run on the virtual clock has one OS thread.
class VirtualClock final : public Clock {
 public:
  /// The clock sets `is_ending` when it cancels `live` as a deadlock.
  /// Requires: both outlive this object.
  VirtualClock(LiveContexts& live, std::atomic<bool>& is_ending)
      : live_(live), is_ending_(is_ending) {}

  Nanos now() const override { return now_; }
  Nanos roughly_now() const override { return now_; }
  Nanos utc_at_zero() const override { return Nanos{0}; }
  Nanos on_steady_clock(Nanos when) const override;
  Nanos end_of(Deadline deadline) const override {
    return deadline.written ? deadline.at : Nanos::max();
  }

  /// Begins a run at the time at which the previous run ended.
  void begin_run() override;
  void count_run(Context& context) override;
  std::uint64_t events() const override { return earlier_runs_ + runs_; }
  /// Returns a number that identifies the current virtual time. It starts at 1, and grows whenever
  /// time passes or a run begins.
  std::uint64_t instant() const { return instant_; }
  /// Returns how often contexts have run at the current time.
  std::uint64_t runs() const { return runs_; }
  std::exception_ptr deadlock() const override { return deadlock_; }

  void poll() override;
  void idle() override;
  void notify() override {}

  void watch(int descriptor, std::function<void()> on_readable) override;
  void unwatch(int descriptor) override;

  void wake_in_order(std::vector<Context*> services, DeferredWakes::Threads threads) override;

 private:
  bool stands_still() const;
  void advance_to(Nanos time);
  void cancel_as_deadlock(const std::string& report);

  LiveContexts& live_;
  std::atomic<bool>& is_ending_;
  std::exception_ptr deadlock_;
  Nanos now_{0};
  std::uint64_t instant_ = 1;
  std::uint64_t runs_ = 0;
  std::uint64_t earlier_runs_ = 0;
  std::uint64_t runs_of_services_ = 0;  // runs of services since the last run of a thread
};

}  // namespace runtime
