// SPDX-License-Identifier: Apache-2.0
// paths/host/deadline_monitor.hpp — deadlines of waiting operations that own no context.
#pragma once
#include <atomic>
#include <functional>

#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Fails waiting operations that own no context when their deadline passes.
///
/// Why:         such an operation has no context that would wake at its deadline. Nearly all
///              operations end long before their deadline. All deadlines on a host are nearly
///              equal, so one context is enough. This context calls `look` at the earliest expected
///              deadline, and then sleeps until the next one.
/// Thread-safe: expect() may be called from any thread. It locks only if no earlier deadline is
///              expected.
class DeadlineMonitor {
 public:
  /// Fails the operations that are late at `now`, and returns the next deadline.
  using Look = std::function<base::Nanos(base::Nanos now)>;
  DeadlineMonitor(runtime::Runtime& runtime, runtime::ContextName name, Look look);
  DeadlineMonitor(const DeadlineMonitor&) = delete;
  DeadlineMonitor& operator=(const DeadlineMonitor&) = delete;

  /// Requests a call of `look` at `until`.
  void expect(base::Nanos until);
  /// Ends the calls of `look`. Blocks until the last call has returned.
  void stop() { watching_ = {}; }

 private:
  void watch();
  runtime::Runtime& runtime_;
  const Look look_;
  runtime::Mutex mutex_;
  runtime::WaitList changed_;
  std::atomic<base::Nanos> earliest_{base::Nanos::max()};
  runtime::Task watching_;
};

}  // namespace paths
