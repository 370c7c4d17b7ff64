// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/watchdog.hpp — reports of runs on the virtual clock that make no progress.
#pragma once
#include <cstdint>
#include <ctime>

#include "base/units.hpp"

namespace runtime {

/// Makes each later run on the virtual clock report a lack of progress to standard error; 0 turns
/// that off. Looks every `patience` of real time. Reports if virtual time stood still meanwhile,
/// and at every sixth look of a run in any case.
///
/// A report says in which of four ways the run makes no progress. A context computes; or the OS
/// thread sleeps in the kernel; or contexts run while virtual time stands still; or virtual time
/// passes without an end. The report lists all contexts with what they wait for, and the stack of
/// the OS thread. The run goes on afterwards.
///
/// Thread-safe. No effect in thread-sanitizer builds, which defer signals.
void watch_virtual_runs(base::Nanos patience);

class Executor;

/// Private to runtime/. Watches the run of an executor on the calling OS thread.
///
/// Why: a timer of the kernel interrupts that thread itself, whether it computes or sleeps. So the
///      run needs no second thread, and the lists of the executor do not change during a report.
class Watchdog {
 public:
  explicit Watchdog(const Executor& executor);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Called by the signal handler.
  void look();

 private:
  struct Progress {
    base::Nanos virtual_time{0};
    std::uint64_t events = 0;
    base::Nanos processor_time{0};
    base::Nanos real_time{0};
  };
  Progress progress() const;
  void report(const Progress& now) const;

  const Executor& executor_;
  const base::Nanos patience_;
  Watchdog* const outer_;  // null if this run is not inside another run
  base::Nanos began_{0};   // real time
  Progress before_;
  std::uint64_t looks_ = 0;
  timer_t timer_{};
  bool has_timer_ = false;
};

}  // namespace runtime
