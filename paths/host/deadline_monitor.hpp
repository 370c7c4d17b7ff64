// SPDX-License-Identifier: Apache-2.0
// paths/host/deadline_monitor.hpp — end of late operations for which no thread or fiber waits.
#pragma once
#include <atomic>
#include <functional>

#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Fails operations that wait past their deadline and have no context (thread or fiber) of their
/// own.
///
/// Why:         without a context of its own, an operation cannot wake at its deadline. One context
///              is enough for all such operations, because nearly all end long before their
///              deadline. It calls `look` at the earliest expected deadline, and then sleeps until
///              the next one.
/// Thread-safe: any thread may call expect(). The call locks only if no earlier deadline is
///              expected.
class DeadlineMonitor {
 public:
  /// Function that fails the operations whose deadline has passed at `now`, and returns the
  /// earliest deadline of the others.
  using Look = std::function<base::Nanos(base::Nanos now)>;
  DeadlineMonitor(runtime::Runtime& runtime, runtime::ContextName name, Look look);
  DeadlineMonitor(const DeadlineMonitor&) = delete;
  DeadlineMonitor& operator=(const DeadlineMonitor&) = delete;

  /// Requests a call of `look` at `until`.
  void expect(base::Nanos until);
  /// Stops calling `look`. Blocks until the last call of `look` has returned.
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
