// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/virtual_clock.cpp — jumps of virtual time, and deadlocks
#include "runtime/scheduler/virtual_clock.hpp"

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/live_contexts.hpp"

namespace runtime {

namespace {

[[noreturn]] void report_use_of(const char* what) {
  base::report_bug(__FILE__, __LINE__, std::string(what) + " on the virtual clock");
}

}  // namespace

Nanos VirtualClock::on_steady_clock(Nanos) const { report_use_of("a time of the steady clock"); }

void VirtualClock::watch(int, std::function<void()>) { report_use_of("a watched descriptor"); }

void VirtualClock::unwatch(int) { report_use_of("a watched descriptor"); }

void VirtualClock::begin_run() {
  deadlock_ = nullptr;
  ++instant_;
  runs_ = runs_of_services_ = 0;
}

void VirtualClock::count_run(Context& context) {
  if (std::exchange(context.instant_, instant_) != instant_) context.runs_ = 0;
  ++context.runs_;
  ++runs_;
  runs_of_services_ = context.role == ContextRole::service ? runs_of_services_ + 1 : 0;
}

void VirtualClock::poll() {
  if (!deadlock_ && stands_still()) cancel_as_deadlock(live_.standstill_report(*this));
}

/// Returns whether virtual time has probably stopped for ever: contexts have run very often since
/// time last passed. A join of a million contexts wakes each of them a few times without time
/// passing, so the limit grows with the number of contexts. This number is the maximum of live
/// contexts since time last passed. There are two limits. The lower limit is for runs of services
/// without a run of a thread in between, because such runs make no progress for any thread. The
/// higher limit is for all runs, because threads may do many rounds that take no time.
bool VirtualClock::stands_still() const {
  constexpr std::uint64_t usual = 1'000'000, usual_of_each = 16, threads_may = 20;
  const std::uint64_t most = std::max(usual, usual_of_each * live_.most());
  return runs_of_services_ > most || runs_ > threads_may * most;
}

void VirtualClock::idle() {
  if (const Nanos next = timers.next(); next != Nanos::max()) {
    if (next > now_) advance_to(next);
    return timers.fire(now_);
  }
  if (live_.empty()) return;
  const std::string report = live_.deadlock_report(*this);
  if (is_ending_.load())  // the destructors of Tasks wait for each other
    base::report_bug(__FILE__, __LINE__, "contexts that were cancelled wait: " + report);
  cancel_as_deadlock(report);
}

void VirtualClock::advance_to(Nanos time) {
  now_ = time;
  ++instant_;
  earlier_runs_ += std::exchange(runs_, 0);
  runs_of_services_ = 0;
  live_.restart_most();
}

void VirtualClock::cancel_as_deadlock(const std::string& report) {
  deadlock_ = std::make_exception_ptr(Deadlock(report));
  is_ending_.store(true);
  live_.cancel(deadlock_);
}

/// Needs no particular order of runs, because services take no time before the threads continue.
void VirtualClock::wake_in_order(std::vector<Context*> services, DeferredWakes::Threads threads) {
  for (Context* service : services) service->unpark();
  threads.wake();
}

}  // namespace runtime
