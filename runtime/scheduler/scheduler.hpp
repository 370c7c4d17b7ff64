// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/scheduler.hpp — the fibers of one OS thread, from start to end
#pragma once
#include <atomic>
#include <boost/fiber/context.hpp>
#include <cstddef>
#include <thread>
#include <vector>

#include "runtime/scheduler/live_contexts.hpp"
#include "runtime/stacks/stack_guard.hpp"
#include "runtime/stacks/stack_switch.hpp"

namespace runtime {

class Context;

/// Callbacks of a scheduler to its owner. They run on the OS thread of the fibers, unless stated
/// otherwise.
class SchedulerOwner {
 public:
  /// Called when Boost.Fiber's dispatcher runs, before it picks the next fiber. No fiber is then
  /// current. Must not block.
  virtual void poll() = 0;
  /// Called when no fiber is ready to run and no fiber is current. Makes a fiber ready, or sleeps
  /// until notify().
  virtual void idle() = 0;
  /// Makes idle() return. Any thread may call it.
  virtual void notify() = 0;
  virtual void run_work(Context& context) = 0;
  /// Called when the work of the last busy fiber has ended.
  virtual void none_lives() = 0;

 protected:
  ~SchedulerOwner() = default;
};

/// Runs fibers in the order in which they became ready. A fiber whose work has ended becomes idle.
/// The next work of a service reuses an idle fiber, because the pages of its stack are already in
/// memory. Private to runtime/.
///
/// Thread-safe: any thread may call make(), is_attached() and runs_on_caller(). Only the OS thread
///              that calls attach() calls the other functions.
class Scheduler {
 public:
  /// Requires: the owner outlives this object.
  explicit Scheduler(SchedulerOwner& owner) : owner_(owner) {}

  /// Creates a context and its stack. Any thread may call it. Throws if there is no memory.
  static Context& make(std::size_t stack_bytes);
  /// Starts the fiber of a context from make().
  void launch(Context& context);
  /// Returns a context whose work has ended, for reuse() with other work; nullptr if there is none.
  Context* take_idle();
  void reuse(Context& context);

  /// Attach the fibers to the calling OS thread, until detach().
  void attach();
  void detach();
  bool is_attached() const { return thread_.load() != std::thread::id(); }
  /// Whether the fibers are attached to the calling OS thread.
  bool runs_on_caller() const {
    return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  /// Blocks until no fiber has work and, if `until_stopped`, stop() was called. Runs fibers while
  /// it blocks.
  void run(bool until_stopped);
  /// Cancels all contexts, and makes run() return when they have ended.
  void stop();
  /// Runs other fibers until the calling fiber is made ready.
  void suspend_current();
  bool has_ready() const;

  LiveContexts live;

 private:
  class Algorithm;
  void run_fiber(Context& context);
  bool wait_for_work(Context& context);
  void dismiss_idle();
  void make_home_ready();

  static constexpr std::size_t idle_max = 256;  // maximum number of idle fibers; further ones end
  SchedulerOwner& owner_;
  std::vector<Context*> idle_;
  std::size_t leaving_ = 0;  // number of idle fibers that must end
  bool is_stopped_ = false;
  Algorithm* algorithm_ = nullptr;
  StackSwitch switch_;
  boost::fibers::context* home_ = nullptr;  // Boost context of the OS thread, while run() waits
  // OS thread to which the fibers are attached. Other OS threads read it at each wake-up, so it has
  // a cache line without members that change often.
  alignas(64) std::atomic<std::thread::id> thread_{};
};

}  // namespace runtime
