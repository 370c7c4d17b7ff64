// SPDX-License-Identifier: Apache-2.0
// runtime/polling/futex.cpp — futex system calls, and the pool of futexes
#include "runtime/polling/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <mutex>
#include <utility>

#include "base/errors.hpp"
#include "runtime/polling/polling.hpp"
#include "runtime/scheduler/context.hpp"

namespace runtime {
namespace {

std::mutex free_mutex;
Futex* free_futexes = nullptr;

/// The futex that this thread used last, kept for its next wait.
struct Spare {
  ~Spare() {
    has_ended = true;
    if (futex != nullptr) Futex::give_back(*futex);
  }
  Futex* futex = nullptr;
  bool has_ended = false;
};
thread_local Spare spare;

}  // namespace

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

Futex& Futex::take() {
  if (spare.futex != nullptr) return *std::exchange(spare.futex, nullptr);
  std::lock_guard lock(free_mutex);
  if (free_futexes == nullptr) return *new Futex;
  return *std::exchange(free_futexes, free_futexes->next_free_);
}

void Futex::give_back(Futex& futex) {
  if (spare.futex == nullptr && !spare.has_ended) {
    spare.futex = &futex;
    return;
  }
  std::lock_guard lock(free_mutex);
  futex.next_free_ = std::exchange(free_futexes, &futex);
}

void Mutex::lock_slowly() {
  for (int looks = 0; looks < 64; ++looks) {
    if (state_.load(std::memory_order_relaxed) == free && take()) return;
    pause_core();
  }
  constexpr timespec limit{0, 1'000'000};
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (!take()) syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, held, &limit, nullptr, 0);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void Mutex::wake_one(const void* state) {
  syscall(SYS_futex, state, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// No waiter is missed. Either this thread sees the waiter in `sleepers_` and wakes it, or the
/// kernel finds the new value and does not let the waiter sleep.
void Futex::change() {
  value_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool Futex::wait(std::uint32_t seen, Nanos until, const Reason& reason, const Looks& looks) {
  if (looks.may && poll(value_, seen, until, SpinHistory::of(reason), looks)) return true;
  if (looks.context != nullptr) looks.context->lapse();
  while (value() == seen)
    if (!sleep(seen, until)) return value() != seen;
  return true;
}

bool Futex::sleep(std::uint32_t seen, Nanos until) {
  const timespec limit = timespec_of(until);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  KnownThreads::fall_asleep();
  const long failed =
      syscall(SYS_futex, &value_, FUTEX_WAIT_BITSET_PRIVATE, seen,
              until == Nanos::max() ? nullptr : &limit, nullptr, FUTEX_BITSET_MATCH_ANY);
  const int error = failed == 0 ? 0 : errno;
  KnownThreads::wake();
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  ENSURE(error == 0 || error == EAGAIN || error == EINTR || error == ETIMEDOUT);
  return error != ETIMEDOUT;
}

}  // namespace runtime
