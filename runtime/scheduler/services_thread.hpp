// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/services_thread.hpp — the OS thread of the services on the steady clock
#pragma once
#include <condition_variable>
#include <mutex>

#include "runtime/scheduler/os_thread.hpp"

namespace runtime {

class Executor;
class Scheduler;

/// The OS thread that runs the fibers of an executor on the steady clock. Private to runtime/.
///
/// Thread-safe: no. The owner of the executor calls all functions except none_lives().
class ServicesThread {
 public:
  /// Requires: the executor and its scheduler outlive this object.
  ServicesThread(Executor& executor, Scheduler& scheduler)
      : executor_(executor), scheduler_(scheduler) {}

  /// Starts the thread. Throws std::runtime_error if the system has no thread for it.
  void start();
  /// Cancels all fibers, and ends the thread when they have ended.
  void stop();
  /// Cancels all fibers, and blocks until none has work. Then fibers may start again.
  void end_services();
  /// Called on this thread when the work of the last busy fiber has ended.
  void none_lives();

 private:
  Executor& executor_;
  Scheduler& scheduler_;
  OsThread thread_;
  std::mutex mutex_;
  std::condition_variable no_fibers_;
  bool has_no_fibers_ = false;
  // True while end_services() waits. Only this thread uses it.
  bool is_waited_for_ = false;
};

}  // namespace runtime
