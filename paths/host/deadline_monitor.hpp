// SPDX-License-Identifier: Apache-2.0
// paths/host/deadline_monitor.hpp — looks after what waits without a context, when its deadline has
// come.
#pragma once
#include <atomic>
#include <functional>

#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Why:     what waits without a context has nobody who would wake at its deadline. Nearly all of
/// it
///          ends long before, and those of one host are nearly equal, so that one context looks at
///          the earliest that was expected, ends what is late, and sleeps until the next.
/// Sharing: any thread may call expect() at any time; it locks only where nothing earlier is
///          expected.
class DeadlineMonitor {
 public:
  /// `look` ends what is late at that time and answers when the next will be.
  using Look = std::function<base::Nanos(base::Nanos now)>;
  DeadlineMonitor(runtime::Runtime& runtime, runtime::ContextName name, Look look);
  DeadlineMonitor(const DeadlineMonitor&) = delete;
  DeadlineMonitor& operator=(const DeadlineMonitor&) = delete;

  /// `look` is to be called at `until`.
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
