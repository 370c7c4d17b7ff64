// SPDX-License-Identifier: Apache-2.0
// runtime/stacks/stack_switch.hpp — notification of the sanitizers at each stack switch
#pragma once
#include <cstddef>
#include <unordered_map>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#include "runtime/stacks/stack_pool.hpp"

namespace runtime {

/// Reports stack switches to the sanitizers. Boost.Fiber, as Debian builds it, does not report
/// them. Without these reports the address sanitizer mistakes an exception on a fiber for a stack
/// overflow. The thread sanitizer mistakes all fibers for one thread. Our scheduling algorithm
/// calls leave_for() right before each switch, and the next fiber calls arrived(). Does nothing in
/// other builds. Private to runtime/.
class StackSwitch {
 public:
#if defined(__SANITIZE_ADDRESS__)
  void begin() {}
  /// `next` is the control block of the next fiber. Boost stores it at the top of that fiber's
  /// stack.
  void leave_for(const void* next, bool next_is_home) {
    const Bounds bounds = next_is_home ? home_ : bounds_of(next);
    switching_ = true;
    __sanitizer_start_switch_fiber(&fake_[current_], bounds.bottom, bounds.bytes);
  }
  void arrived(const void* self) {
    if (!switching_) return;
    switching_ = false;
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    void* fake = nullptr;
    if (auto saved = fake_.find(self); saved != fake_.end()) {
      fake = saved->second;
      fake_.erase(saved);
    }
    __sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
    if (current_ == nullptr) home_ = {bottom, bytes};
    current_ = self;
  }
  static void forget(const StackBounds&) {}

 private:
  struct Bounds {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
  };
  static Bounds bounds_of(const void* control) {
    const auto stack = StackPool::containing(control);
    if (stack.bottom != nullptr) return {stack.bottom, stack.bytes};
    // The dispatcher runs on Boost's own default stack of 128 KiB. Its control block is at the top
    // of this stack, so at least the 120 KiB below the control block belong to the stack.
    constexpr std::size_t bytes = 120 * 1024;
    return {static_cast<const char*>(control) - bytes, bytes};
  }
  bool switching_ = false;
  const void* current_ = nullptr;  // current fiber; nullptr on the OS thread's own stack
  Bounds home_;
  std::unordered_map<const void*, void*> fake_;
#elif defined(__SANITIZE_THREAD__)
  StackSwitch() = default;
  ~StackSwitch() {
    if (dispatcher_ != nullptr) __tsan_destroy_fiber(dispatcher_);
  }
  StackSwitch(const StackSwitch&) = delete;
  StackSwitch& operator=(const StackSwitch&) = delete;

  /// Declares that the calling OS thread runs the fibers from now on.
  void begin() { home_ = __tsan_get_current_fiber(); }
  /// Not instrumented by the sanitizer, like its caller: leave_for() is called in one fiber and
  /// returns in a different fiber.
  __attribute__((no_sanitize("thread"))) void leave_for(const void* next, bool next_is_home) {
    __tsan_switch_to_fiber(seen_as(next, next_is_home), 0);
  }
  void arrived(const void*) {}
  /// Forgets the ended fiber of `stack`.
  static void forget(const StackBounds& stack);

 private:
  void* seen_as(const void* next, bool next_is_home);
  void* home_ = nullptr;
  void* dispatcher_ = nullptr;
#else
  void begin() {}
  void leave_for(const void*, bool) {}
  void arrived(const void*) {}
  static void forget(const StackBounds&) {}
#endif
};

}  // namespace runtime
