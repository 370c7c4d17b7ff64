// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/services_thread.cpp — start and end of the services
#include "runtime/scheduler/services_thread.hpp"

#include <thread>
#include <utility>

#include "runtime/scheduler/executor.hpp"

namespace runtime {

void ServicesThread::start() {
  thread_ = OsThread(thread_stack_bytes, [this] {
    Context::set_current(nullptr);
    scheduler_.attach();
    scheduler_.run(true);
    scheduler_.detach();
  });
  while (!scheduler_.is_attached()) std::this_thread::yield();
}

void ServicesThread::stop() {
  executor_.post([this] { scheduler_.stop(); });
  thread_.join();
}

void ServicesThread::end_services() {
  std::unique_lock lock(mutex_);
  has_no_fibers_ = false;
  executor_.post([this] {
    scheduler_.live.cancel(nullptr);
    is_waited_for_ = true;
    if (scheduler_.live.empty()) none_lives();
  });
  no_fibers_.wait(lock, [this] { return has_no_fibers_; });
}

void ServicesThread::none_lives() {
  if (!std::exchange(is_waited_for_, false)) return;
  std::lock_guard lock(mutex_);
  has_no_fibers_ = true;
  no_fibers_.notify_all();
}

}  // namespace runtime
