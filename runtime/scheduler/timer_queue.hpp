// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/timer_queue.hpp — times at which waiting fibers continue
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace runtime {

using base::Nanos;
class Context;

/// Timers of waiting fibers. Timers for the same time fire in the order in which they were added.
/// Private to runtime/.
///
/// Thread-safe: no. Only the executor's OS thread uses it.
class TimerQueue {
 public:
  /// Ends a wait of `context` at the time `at`, if the wait still lasts then. `wait` is the value
  /// of the context's WaitCount during the wait.
  void add(Nanos at, Context& context, std::uint64_t wait);
  void fire(Nanos now);
  /// Returns the time of the earliest timer whose wait still lasts; Nanos::max() if there is none.
  Nanos next();
  void clear() { timers_.clear(); }

 private:
  struct Timer {
    Nanos at;
    std::uint64_t order;
    Context* context;
    std::uint64_t wait;  ///< value of the context's WaitCount when the wait began
    bool is_awaited() const;
    bool operator>(const Timer& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  Timer take_first();

  static constexpr std::size_t size_least = 1024;
  std::vector<Timer> timers_;  // heap of timers, earliest first
  // When the queue has this size, it drops timers of ended waits.
  std::size_t size_most_ = size_least;
  std::uint64_t order_ = 0;
};

}  // namespace runtime
