// SPDX-License-Identifier: Apache-2.0
// runtime/stack_pool.hpp — stacks for fibers, used again.
#pragma once
#include <boost/context/stack_context.hpp>
#include <cstddef>

namespace runtime {

/// Private to runtime/. A Boost.Context stack allocator.
///
/// Stacks are address space; only touched pages cost memory, and a stack given back is the next
/// one handed out, its pages warm. The first `guarded_max` stacks have a guard page; beyond that
/// the kernel's limit on mappings (about 65,000, two for each guard) forbids it.
class StackPool {
 public:
  explicit StackPool(std::size_t bytes) : bytes_(bytes) {}
  boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context& stack);

  struct Stack {
    const char* bottom = nullptr;
    std::size_t bytes = 0;
  };
  /// The stack of any pool that `address` is on; none if it is on no such stack.
  static Stack containing(const void* address);

 private:
  std::size_t bytes_;
};

}  // namespace runtime
