// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/fiber_launch.cpp — Boost.Fiber code that is compiled into the project
#include "runtime/scheduler/fiber_launch.hpp"

#include <boost/fiber/fiber.hpp>
#include <utility>

#include "runtime/stacks/stack_pool.hpp"

namespace runtime {

void launch_fiber(const StackBounds& stack, std::function<void()> work) {
  boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg, GivenStack(stack),
                       std::move(work))
      .detach();
}

}  // namespace runtime
