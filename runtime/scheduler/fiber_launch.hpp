// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/fiber_launch.hpp — start of a fiber of Boost.Fiber
#pragma once
#include <functional>

#include "runtime/stacks/stack_guard.hpp"

namespace runtime {

/// Starts a fiber of the calling OS thread on `stack`, which StackPool allocated. The fiber runs
/// `work` when it is scheduled. At its end it returns the stack to the pool. Throws std::bad_alloc.
/// Private to runtime/.
///
/// This file is compiled without the thread sanitizer. The functions that call `work` return twice:
/// once in the ending fiber, and once in the fiber that removes the ended fiber. The sanitizer
/// would record the second return for the wrong fiber.
void launch_fiber(const StackBounds& stack, std::function<void()> work);

}  // namespace runtime
