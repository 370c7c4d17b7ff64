// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/os_thread.hpp — an OS thread with a stack of a given size.
#pragma once
#include <pthread.h>

#include <cstddef>
#include <functional>

namespace runtime {

/// Private to runtime/. What std::thread is, but that cannot be told how large a stack to have.
class OsThread {
 public:
  OsThread() = default;
  /// Throws std::runtime_error, with the limits to look at, when there is none to be had.
  OsThread(std::size_t stack_bytes, std::function<void()> work);
  OsThread(OsThread&& other) noexcept;
  OsThread& operator=(OsThread&& other) noexcept;
  ~OsThread();  ///< joined before
  bool joinable() const { return joinable_; }
  void join();

 private:
  pthread_t thread_{};
  bool joinable_ = false;
};

}  // namespace runtime
