// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/stack_guard.hpp — tells who ran over the end of which stack.
#pragma once
#include <cstddef>
#include <memory>

namespace runtime {

/// Private to runtime/. A stack from its lowest usable byte on, and what guards it below.
struct StackBounds {
  const char* bottom = nullptr;
  std::size_t bytes = 0;
  std::size_t guard_bytes = 0;  ///< none: nothing can be told of an overflow
};

/// Of the OS thread that calls; not for those of a process's first thread, which grow.
StackBounds stack_of_this_thread();

/// How much is left unmapped below a stack: address space only. A frame that is larger steps over
/// it, which nobody sees.
std::size_t guard_bytes_for(std::size_t stack_bytes);

/// From now on an access to a guard is said in words (which context, how large its stack is, what
/// makes it larger) before it ends the process as it would have, or goes on to the handler that
/// was there before. Nothing in address-sanitizer builds, which say it themselves.
void say_stack_overflows();

/// Where an OS thread's signal handlers run, because its own stack may be what is at an end. One
/// that has such a place already keeps it.
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
