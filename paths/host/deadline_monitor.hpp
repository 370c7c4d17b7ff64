// SPDX-License-Identifier: Apache-2.0
// paths/host/deadline_monitor.hpp — failing of late operations that have no thread or fiber.
#pragma once
#include <atomic>
#include <functional>

#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Fails operations that have no context (thread or fiber) of their own when their deadline has
/// passed. One context does this for all such operations. It calls `look` at the earliest expected
/// deadline, and then sleeps until the next expected deadline.
///
/// Why:         an operation without a context of its own cannot wake at its deadline. One context
///              for all is enough, because nearly all operations end long before their deadline.
/// Thread-safe: any thread may call expect(). The call locks a mutex only if `until` is before all
///              deadlines that are already expected.
class DeadlineMonitor {
 public:
  /// Function that fails the operations whose deadline has passed at `now`. Returns the earliest
  /// deadline of the remaining operations.
  using Look = std::function<base::Nanos(base::Nanos now)>;
  DeadlineMonitor(runtime::Runtime& runtime, runtime::ContextName name, Look look);
  DeadlineMonitor(const DeadlineMonitor&) = delete;
  DeadlineMonitor& operator=(const DeadlineMonitor&) = delete;

  /// Requests a call of `look` at the time `until`.
  void expect(base::Nanos until);
  /// Stops calling `look`.
  /// Blocks: until the last call of `look` has returned.
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
