// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/thread_pool.hpp — the OS threads of an executor that run contexts
#pragma once
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>

#include "runtime/scheduler/os_thread.hpp"

namespace runtime {

class Context;

/// OS threads that run contexts, one thread per context. Private to runtime/.
///
/// Thread-safe: yes.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t stack_bytes) : stack_bytes_(stack_bytes) {}

  /// Joins the threads that have ended, so that their contexts can be reused. Must be called before
  /// the caller takes a context for begin() by Context::take_for_thread().
  void join_ended() { join(take_ended()); }
  /// Runs `body` in an OS thread as `context`, which Context::take_for_thread() returned. If the
  /// system cannot start a thread, gives the context back and throws.
  void begin(Context& context, std::function<void()> body);
  /// Cancels all contexts repeatedly, and blocks until they have ended.
  void end_all();

 private:
  struct Worker {
    Context* context = nullptr;
    std::function<void()> body;
    OsThread thread;
    std::list<Worker>::iterator place;
  };
  void run(Worker& worker);
  std::list<Worker> take_ended();
  static void join(std::list<Worker> ended);
  static void forget(Context& context);

  const std::size_t stack_bytes_;
  std::mutex mutex_;
  std::list<Worker> running_;
  std::list<Worker> ended_;  // threads that must be joined
  std::condition_variable changed_;
};

}  // namespace runtime
