// SPDX-License-Identifier: Apache-2.0
// runtime/polling/futex.hpp — a number on which OS threads wait until it changes
#pragma once
#include <atomic>
#include <cstdint>

#include "runtime/wait.hpp"

namespace runtime {

struct Looks;

/// A word on which OS threads wait until its value changes. A change wakes all waiters with one
/// system call (futex). If no waiter sleeps, a change needs no system call
/// (runtime/polling/polling.hpp). Private to runtime/.
///
/// Owns: instances are never freed but reused. A change() that arrives after the end of a wait
///   therefore only causes a spurious wake-up. Every waiter checks its condition again.
/// Thread-safe: yes.
class alignas(64) Futex {
 public:
  static Futex& take();
  static void give_back(Futex& futex);

  std::uint32_t value() const { return value_.load(std::memory_order_acquire); }
  void change();
  /// Blocks while the value is `seen`. Returns false once `until`, on the steady clock, is reached.
  /// Polls before it sleeps if `looks` allows polling.
  bool wait(std::uint32_t seen, Nanos until, const Reason& reason, const Looks& looks);

 private:
  bool sleep(std::uint32_t seen, Nanos until);
  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> sleepers_{0};
  Futex* next_free_ = nullptr;
};

}  // namespace runtime
