// SPDX-License-Identifier: Apache-2.0
// paths/host/services.cpp — start, count and cancellation of a host's services.
#include "paths/host/services.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "runtime/processes/process_end.hpp"

namespace paths {

runtime::Task Services::spawn(std::string_view role, std::function<void()> work) {
  const std::uint64_t number = take_number();
  {
    const runtime::Lock lock(mutex_);
    contexts_[number] = {};
  }
  // The destruction of `ended` removes the context from the count. The function of the context owns
  // `ended`, so that `ended` is destroyed even if the function is never called.
  std::shared_ptr<void> ended(nullptr, [this, number](void*) { remove_context(number); });
  runtime::Task task =
      runtime_.spawn(runtime::ContextRole::service, {role, host_, number},
                     [ended = std::move(ended), work = std::move(work)]() mutable {
                       const runtime::ApplicationCode inside;  // `work` may run application code
                       std::exchange(work, nullptr)();
                     });
  const runtime::Lock lock(mutex_);
  if (const auto context = contexts_.find(number); context != contexts_.end())
    context->second = task.canceller();
  return task;
}

void Services::remove_context(std::uint64_t number) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  contexts_.erase(number);
  changed_.wake_all(wakes);
}

void Services::remove_operation() {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  if (operations_.fetch_sub(1) == 1) changed_.wake_all(wakes);
}

bool Services::are_running() const {
  const runtime::Lock lock(mutex_);
  return are_running_locked();
}

/// Cancels the contexts without holding the mutex. If a context has ended meanwhile, its
/// cancellation has no effect.
void Services::cancel() {
  std::vector<runtime::TaskCanceller> cancellers;
  {
    const runtime::Lock lock(mutex_);
    for (const auto& [number, canceller] : contexts_)
      if (canceller) cancellers.push_back(canceller);
  }
  for (auto& canceller : cancellers) canceller.cancel();
}

bool Services::wait_for_end(runtime::Deadline limit) {
  runtime::Lock lock(mutex_);
  while (are_running_locked())
    if (wait_locked(lock, limit) == runtime::Woken::expired) return false;
  return true;
}

void Services::wait_for_change(runtime::Deadline limit) {
  runtime::Lock lock(mutex_);
  if (are_running_locked()) wait_locked(lock, limit);
}

runtime::Woken Services::wait_locked(runtime::Lock& lock, runtime::Deadline limit) {
  return changed_.wait(lock, limit, {"the end of services of", host_, index_});
}

}  // namespace paths
