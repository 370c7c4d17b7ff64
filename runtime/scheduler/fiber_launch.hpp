// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/fiber_launch.hpp — how a fiber of Boost.Fiber begins.
#pragma once
#include <functional>

#include "runtime/scheduler/stack_guard.hpp"

namespace runtime {

/// Private to runtime/. Begins a fiber of the calling OS thread on `stack`, which StackPool
/// allocated. The fiber runs `work` when its turn comes, then it ends and gives the stack back.
/// Throws std::bad_alloc.
///
/// This file is compiled without the thread sanitizer. Boost.Fiber leaves the code below `work`
/// twice: once as the fiber that ends, and once as the fiber that removes it. The sanitizer would
/// note the second return for the wrong fiber.
void launch_fiber(const StackBounds& stack, std::function<void()> work);

}  // namespace runtime
