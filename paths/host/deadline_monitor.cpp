// SPDX-License-Identifier: Apache-2.0
// paths/host/deadline_monitor.cpp — the context that fails late operations of a deployment.
#include "paths/host/deadline_monitor.hpp"

#include <utility>

namespace paths {

DeadlineMonitor::DeadlineMonitor(runtime::Runtime& runtime, runtime::ContextName name, Look look)
    : runtime_(runtime), look_(std::move(look)) {
  watching_ = runtime_.spawn(runtime::ContextRole::service, name, [this] { watch(); });
}

void DeadlineMonitor::expect(base::Nanos until) {
  // Returns if watch() already waits for an earlier deadline. At that deadline watch() calls
  // look_(), which returns the next deadline.
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
    // This reset must precede look_(). A reset after look_() would overwrite a deadline that
    // expect() has set while look_() ran.
    earliest_.store(base::Nanos::max());
    lock.unlock();
    const base::Nanos next = look_(now);
    lock.lock();
    if (next < earliest_.load()) earliest_.store(next);
  }
}

}  // namespace paths
