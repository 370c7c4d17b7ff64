// SPDX-License-Identifier: Apache-2.0
// runtime/stacks/stack_switch.cpp — table of the thread sanitizer's fibers by stack
#include "runtime/stacks/stack_switch.hpp"

#ifdef __SANITIZE_THREAD__

#include <mutex>

namespace runtime {
namespace {

/// The sanitizer's fibers, keyed by the lowest byte of the stack.
struct SeenFibers {
  std::mutex mutex;
  std::unordered_map<const char*, void*> all;
};

SeenFibers& seen_fibers() {
  static SeenFibers& the_fibers = *new SeenFibers;  // never destroyed: fibers may end late
  return the_fibers;
}

}  // namespace

void* StackSwitch::seen_as(const void* next, bool next_is_home) {
  if (next_is_home) return home_;
  const StackBounds stack = StackPool::containing(next);
  if (stack.bottom == nullptr) {  // the next fiber is Boost.Fiber's dispatcher
    if (dispatcher_ == nullptr) dispatcher_ = __tsan_create_fiber(0);
    return dispatcher_;
  }
  SeenFibers& seen = seen_fibers();
  const std::lock_guard lock(seen.mutex);
  void*& fiber = seen.all[stack.bottom];
  if (fiber == nullptr) fiber = __tsan_create_fiber(0);
  return fiber;
}

void StackSwitch::forget(const StackBounds& stack) {
  SeenFibers& seen = seen_fibers();
  const std::lock_guard lock(seen.mutex);
  const auto found = seen.all.find(stack.bottom);
  if (found == seen.all.end()) return;  // the sanitizer knows no fiber that never ran
  __tsan_destroy_fiber(found->second);
  seen.all.erase(found);
}

}  // namespace runtime

#endif
