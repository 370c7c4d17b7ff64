// SPDX-License-Identifier: Apache-2.0
// runtime/stacks/stack_guard.hpp — detection and report of stack overflows
#pragma once
#include <cstddef>
#include <memory>

namespace runtime {

/// The bounds of a stack, from its lowest usable byte up, and the size of the guard below it.
/// Private to runtime/.
struct StackBounds {
  const char* bottom = nullptr;
  std::size_t bytes = 0;
  std::size_t guard_bytes = 0;  ///< size of the guard; 0 = none, so an overflow is not detected
};

/// Returns the stack of the calling OS thread. The first thread of a process must not call it,
/// because the stack of that thread grows.
StackBounds stack_of_this_thread();

/// Returns the size of the unmapped guard below a stack. A guard costs address space only. A
/// function with a frame larger than the guard can overflow the stack without touching the guard.
std::size_t guard_bytes_for(std::size_t stack_bytes);

/// Installs a signal handler that reports each access to a guard. The report names the context, its
/// stack size, and how to enlarge the stack. Then the previous handler runs or, if there is none,
/// the process ends as it would without this handler. Does nothing in address-sanitizer builds,
/// which report overflows themselves.
void say_stack_overflows();

/// A separate stack for an OS thread's signal handlers, because its own stack may have overflowed.
/// A thread that already has such a stack keeps it.
class AlternateStack {
 public:
  using Memory = std::unique_ptr<char[]>;
  static Memory memory();
  explicit AlternateStack(Memory memory = AlternateStack::memory());
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  Memory memory_;
};

}  // namespace runtime
