// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/os_thread.hpp — an OS thread with a chosen stack size
#pragma once
#include <pthread.h>

#include <cstddef>
#include <functional>

namespace runtime {

/// Like std::thread, but with a chosen stack size. Private to runtime/.
class OsThread {
 public:
  OsThread() = default;
  /// Throws std::runtime_error if the system cannot start a thread. The text names the limits to
  /// check.
  OsThread(std::size_t stack_bytes, std::function<void()> work);
  OsThread(OsThread&& other) noexcept;
  OsThread& operator=(OsThread&& other) noexcept;
  ~OsThread();  ///< Requires: join() was called, or there is no thread.
  bool joinable() const { return joinable_; }
  void join();

 private:
  pthread_t thread_{};
  bool joinable_ = false;
};

}  // namespace runtime
