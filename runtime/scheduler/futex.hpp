// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/futex.hpp — a number that OS threads wait for until it changes.
#pragma once
#include <atomic>
#include <cstdint>

#include "runtime/wait.hpp"

namespace runtime {

struct Looks;

/// Private to runtime/. All who wait for one are woken at once, with one call of the kernel
/// (futex) if anybody sleeps, and none if all still look (runtime/scheduler/polling.hpp).
///
/// Sharing: any thread may call anything at any time. Words are never freed but used again, so
///          that a change that comes late is a spurious one: who waits looks at what for.
class alignas(64) Futex {
 public:
  static Futex& take();
  static void give_back(Futex& futex);

  std::uint32_t value() const { return value_.load(std::memory_order_acquire); }
  void change();
  /// Blocks while the value is `seen` and `until`, on the steady clock, has not come; false when
  /// it has. Looks before it sleeps if it may.
  bool wait(std::uint32_t seen, Nanos until, const Reason& reason, const Looks& looks);

 private:
  bool sleep(std::uint32_t seen, Nanos until);
  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> sleepers_{0};
  Futex* next_free_ = nullptr;
};

}  // namespace runtime
