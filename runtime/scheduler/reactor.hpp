// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/reactor.hpp — a sleep in the kernel that readable descriptors or notify() end
#pragma once
#include <atomic>
#include <functional>
#include <unordered_map>

#include "base/descriptor.hpp"
#include "base/units.hpp"

namespace runtime {

using base::Nanos;

/// Runs `callback`. Ends the process if the callback throws or waits, because no caller could
/// handle that.
void run_callback(const std::function<void()>& callback);

/// Watches descriptors for an executor on the steady clock. Private to runtime/.
///
/// Thread-safe: any thread may call notify(). Only the executor's OS thread calls the other
///              functions.
class Reactor {
 public:
  Reactor();

  /// Calls `on_readable` from look() and sleep() whenever `descriptor` is readable.
  void watch(int descriptor, std::function<void()> on_readable);
  void unwatch(int descriptor);
  /// Ends the current sleep(). If no sleep() is in progress, the next sleep() ends immediately.
  void notify();
  /// Handles the descriptors that are readable now. Does not block.
  void look();
  /// Blocks until notify(), until a descriptor is readable, or for `longest` (Nanos::max() =
  /// without limit). Then handles the readable descriptors.
  void sleep(Nanos longest);

 private:
  void handle(const timespec* limit);

  enum State : int { running, sleeping, notified };
  std::atomic<int> state_{running};
  base::Descriptor epoll_;
  base::Descriptor event_;  // eventfd, written to end a sleep
  std::unordered_map<int, std::function<void()>> watched_;
};

}  // namespace runtime
