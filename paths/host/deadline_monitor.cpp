// SPDX-License-Identifier: Apache-2.0
// paths/host/deadline_monitor.cpp — one context for all deadlines of a host.
#include "paths/host/deadline_monitor.hpp"

#include <utility>

namespace paths {

DeadlineMonitor::DeadlineMonitor(runtime::Runtime& runtime, runtime::ContextName name, Look look)
    : runtime_(runtime), look_(std::move(look)) {
  watching_ = runtime_.spawn(runtime::ContextRole::service, name, [this] { watch(); });
}

void DeadlineMonitor::expect(base::Nanos until) {
  // If an earlier deadline is already expected, watch() calls look_() at that time, and look_()
  // returns the next deadline.
  if (until >= earliest_.load()) return;
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  if (until >= earliest_.load()) return;
  earliest_.store(until);
  changed_.wake_all(wakes);
}

void DeadlineMonitor::watch() {
  const runtime::Reason reason{"deadlines of those without a context"};
  runtime::Lock lock(mutex_);
  for (;;) {
    const base::Nanos earliest = earliest_.load();
    const base::Nanos now = runtime_.now();
    if (now < earliest) {
      changed_.wait(lock, runtime::Deadline::written_at(earliest), reason);
      continue;
    }
    // Must precede look_(), which may miss deadlines that are added meanwhile.
    earliest_.store(base::Nanos::max());
    lock.unlock();
    const base::Nanos next = look_(now);
    lock.lock();
    if (next < earliest_.load()) earliest_.store(next);
  }
}

}  // namespace paths
