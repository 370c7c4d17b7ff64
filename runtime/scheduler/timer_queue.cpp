// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/timer_queue.cpp — a heap of timers
#include "runtime/scheduler/timer_queue.hpp"

#include <algorithm>
#include <functional>

#include "runtime/scheduler/context.hpp"

namespace runtime {

bool TimerQueue::Timer::is_awaited() const { return context->waits_.value() == wait; }

/// Adds a timer. If a wait ends before its timer fires, the timer stays in the queue. Timers of
/// ended waits are removed whenever the queue has grown to `size_most_`.
void TimerQueue::add(Nanos at, Context& context, std::uint64_t wait) {
  if (timers_.size() >= size_most_) {
    std::erase_if(timers_, [](const Timer& timer) { return !timer.is_awaited(); });
    std::make_heap(timers_.begin(), timers_.end(), std::greater<>());
    size_most_ = std::max(size_least, 2 * timers_.size());
  }
  timers_.push_back({at, order_++, &context, wait});
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

TimerQueue::Timer TimerQueue::take_first() {
  const Timer first = timers_.front();
  std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
  timers_.pop_back();
  return first;
}

void TimerQueue::fire(Nanos now) {
  while (!timers_.empty() && timers_.front().at <= now) {
    const Timer timer = take_first();
    if (!timer.is_awaited()) continue;
    timer.context->waits_.change();
    timer.context->timed_out_ = true;
    timer.context->make_ready();
  }
}

Nanos TimerQueue::next() {
  while (!timers_.empty() && !timers_.front().is_awaited()) take_first();
  return timers_.empty() ? Nanos::max() : timers_.front().at;
}

}  // namespace runtime
