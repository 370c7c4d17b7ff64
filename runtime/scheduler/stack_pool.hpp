// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/stack_pool.hpp — stacks for fibers, used again.
#pragma once
#include <boost/context/stack_context.hpp>
#include <cstddef>

#include "runtime/scheduler/stack_guard.hpp"

namespace runtime {

/// Private to runtime/. Stacks of all sizes; any thread may call.
///
/// Stacks are address space, reserved without memory; only touched pages cost some, and a stack
/// given back is the next one handed out. Its pages stay warm, unless very many are free.
class StackPool {
 public:
  /// Throws std::runtime_error, with the limits to look at, when there is none to be had.
  static StackBounds allocate(std::size_t bytes);
  static void deallocate(const StackBounds& stack);
  /// The stack that `address` is on; none if it is on no stack of a fiber.
  static StackBounds containing(const void* address);
};

/// Private to runtime/. A Boost.Context stack allocator that has the one stack already.
class GivenStack {
 public:
  explicit GivenStack(const StackBounds& stack) : stack_(stack) {}
  boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context& stack);

 private:
  StackBounds stack_;
};

}  // namespace runtime
