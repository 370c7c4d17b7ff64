// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/thread_pool.cpp — start of OS threads, and join of ended threads
#include "runtime/scheduler/thread_pool.hpp"

#include <utility>

#include "runtime/scheduler/context.hpp"

namespace runtime {

/// Allocates everything that the thread needs at its start and end, and then starts the thread. If
/// an allocation fails here, the caller receives the exception. If it failed in the new thread, no
/// caller would receive the exception.
void ThreadPool::begin(Context& context, std::function<void()> body) {
  try {
    std::list<Worker> made(1);
    Worker& worker = made.front();
    worker.context = &context;
    worker.body = std::move(body);
    worker.place = made.begin();
    const std::lock_guard lock(mutex_);
    worker.thread = OsThread(stack_bytes_, [this, &worker] { run(worker); });
    running_.splice(running_.end(), made);
  } catch (...) {
    forget(context);
    throw;
  }
}

void ThreadPool::run(Worker& worker) {
  Context& context = *worker.context;
  Context::set_current(&context);
  context.stack = stack_of_this_thread();
  worker.body();
  {
    const std::lock_guard lock(mutex_);  // from here on end_all() does not cancel this context
    ended_.splice(ended_.end(), running_, worker.place);
    changed_.notify_all();
  }
  forget(context);
}

/// Resets the context of an OS thread that has ended, or that could not start.
void ThreadPool::forget(Context& context) {
  context.forget_cancel();
  context.executor = nullptr;
  Context::give_back_of_thread(context);
}

std::list<ThreadPool::Worker> ThreadPool::take_ended() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, {});
}

/// Joins threads. Requires: mutex_ is not held, because destructors that run at the end of a thread
/// may start another thread.
void ThreadPool::join(std::list<Worker> ended) {
  for (Worker& worker : ended) worker.thread.join();
}

void ThreadPool::end_all() {
  std::unique_lock lock(mutex_);
  while (!running_.empty() || !ended_.empty()) {
    for (Worker& worker : running_) worker.context->cancel(nullptr);
    changed_.wait(lock, [this] { return !ended_.empty(); });
    auto ended = std::exchange(ended_, {});
    lock.unlock();
    join(std::move(ended));
    lock.lock();
  }
}

}  // namespace runtime
