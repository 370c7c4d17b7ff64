// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/watchdog.hpp — reports of virtual-clock runs that make no progress
#pragma once
#include <cstdint>
#include <ctime>

#include "base/units.hpp"

namespace runtime {

/// Makes each later run on the virtual clock check its own progress, and print a report to standard
/// error if there is no progress. `patience` is the interval of the checks, in real time; 0 = no
/// checks. A run prints a report if virtual time stood still since the last check. It also prints a
/// report at every sixth check, whether time stood still or not.
///
/// A report names one of four states: a context computes; the OS thread sleeps in the kernel;
/// contexts run while virtual time stands still; virtual time passes without an end. It lists all
/// contexts with their waits, and the stack of the OS thread. The run continues afterwards.
///
/// Thread-safe: yes. It has no effect in thread-sanitizer builds, which defer signals.
void watch_virtual_runs(base::Nanos patience);

class Clock;
class LiveContexts;

/// Watches the run of `contexts` on the calling OS thread. Private to runtime/.
///
/// Why: a kernel timer interrupts the thread of the run, whether it computes or sleeps. Therefore
///   the run needs no second thread, and the lists of contexts do not change during a report.
class Watchdog {
 public:
  Watchdog(const Clock& clock, const LiveContexts& contexts);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Checks the progress of the run. The signal handler of the timer calls it.
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

  const Clock& clock_;
  const LiveContexts& contexts_;
  const base::Nanos patience_;
  Watchdog* const outer_;  // watchdog of the enclosing run; nullptr if there is none
  base::Nanos began_{0};   // real time at which the run began
  Progress before_;
  std::uint64_t looks_ = 0;
  timer_t timer_{};
  bool has_timer_ = false;
};

}  // namespace runtime
