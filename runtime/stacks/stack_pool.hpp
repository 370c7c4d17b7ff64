// SPDX-License-Identifier: Apache-2.0
// runtime/stacks/stack_pool.hpp — reusable stacks for fibers
#pragma once
#include <boost/context/stack_context.hpp>
#include <cstddef>

#include "runtime/stacks/stack_guard.hpp"

namespace runtime {

/// Stacks of all sizes for fibers. Private to runtime/.
///
/// A stack reserves address space; only touched pages use memory. allocate() returns the stack that
/// was deallocated last, because the touched pages of that stack are still in memory. The pages are
/// freed only if very many stacks are unused.
/// Thread-safe: yes.
class StackPool {
 public:
  /// Throws std::runtime_error, which names the limits to check, if there is no stack.
  static StackBounds allocate(std::size_t bytes);
  static void deallocate(const StackBounds& stack);
  /// Returns the stack that contains `address`; empty bounds if no fiber's stack contains it.
  static StackBounds containing(const void* address);
};

/// A Boost.Context stack allocator that returns the stack that its constructor got. Private to
/// runtime/.
class GivenStack {
 public:
  explicit GivenStack(const StackBounds& stack) : stack_(stack) {}
  boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context& stack);

 private:
  StackBounds stack_;
};

}  // namespace runtime
