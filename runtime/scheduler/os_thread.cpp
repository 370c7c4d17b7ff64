// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/os_thread.cpp — creation and join of pthreads
#include "runtime/scheduler/os_thread.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/units.hpp"
#include "runtime/processes/machine.hpp"
#include "runtime/stacks/stack_guard.hpp"

namespace runtime {
namespace {

struct Given {
  std::function<void()> work;
  AlternateStack::Memory for_signals;
};

void* run(void* given) {
  const std::unique_ptr<Given> own(static_cast<Given*>(given));
  const AlternateStack for_signals(std::move(own->for_signals));
  // Allows the kernel to delay timers of this thread by 1 ns at most, instead of the default 50 us,
  // because timers emulate links and computations.
  prctl(PR_SET_TIMERSLACK, 1UL);
  own->work();
  return nullptr;
}

/// A thread is started only if this much address space stays free. Otherwise the start fails, and
/// the caller can handle the error. A failed allocation in a running thread would end the process.
constexpr std::size_t left_bytes = std::size_t{16} << 20;

bool is_room_for(std::size_t stack_bytes) {
  const std::size_t bytes = stack_bytes + left_bytes;
  void* const tried =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return tried != MAP_FAILED && munmap(tried, bytes) == 0;
}

int begin(pthread_t& thread, std::size_t stack_bytes, Given* given) {
  if (!is_room_for(stack_bytes)) return EAGAIN;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int error = pthread_attr_setguardsize(&attributes, guard_bytes_for(stack_bytes));
  if (error == 0) error = pthread_attr_setstacksize(&attributes, stack_bytes);
  if (error == 0) error = pthread_create(&thread, &attributes, run, given);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

OsThread::OsThread(std::size_t stack_bytes, std::function<void()> work) {
  std::unique_ptr<Given> given(new Given{std::move(work), AlternateStack::memory()});
  if (const int error = begin(thread_, stack_bytes, given.get()); error != 0)
    throw std::runtime_error(
        fmt::format("cannot create an OS thread with a stack of {}: {}; see ulimit -u and -v, "
                    "pids.max of the cgroup, kernel.threads-max and vm.max_map_count",
                    base::format_bytes(stack_bytes), std::generic_category().message(error)));
  [[maybe_unused]] const Given* const is_of_run = given.release();
  joinable_ = true;
}

/// Creates all threads before it ends the first one, because the threads of the program will also
/// exist at the same time.
void check_threads_can_begin(std::size_t count) {
  pthread_attr_t attributes;
  std::size_t stack_bytes = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &stack_bytes);
  pthread_attr_destroy(&attributes);
  std::promise<void> all_tried;
  const std::shared_future<void> end = all_tried.get_future().share();
  std::vector<OsThread> tried;
  std::exception_ptr failure;
  try {
    for (std::size_t i = 0; i < count; ++i) tried.emplace_back(stack_bytes, [end] { end.wait(); });
  } catch (...) {
    failure = std::current_exception();
  }
  all_tried.set_value();
  for (OsThread& one : tried) one.join();
  if (failure) std::rethrow_exception(failure);
}

OsThread::OsThread(OsThread&& other) noexcept
    : thread_(other.thread_), joinable_(std::exchange(other.joinable_, false)) {}

OsThread& OsThread::operator=(OsThread&& other) noexcept {
  ENSURE(!joinable_);
  thread_ = other.thread_;
  joinable_ = std::exchange(other.joinable_, false);
  return *this;
}

OsThread::~OsThread() { ENSURE(!joinable_); }

void OsThread::join() {
  ENSURE(joinable_);
  ENSURE_EQ(pthread_join(thread_, nullptr), 0);
  joinable_ = false;
}

}  // namespace runtime
