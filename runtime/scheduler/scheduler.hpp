// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/scheduler.hpp — the fibers of one OS thread, from their beginning to their end.
#pragma once
#include <boost/fiber/context.hpp>
#include <cstddef>
#include <vector>

#include "runtime/scheduler/live_contexts.hpp"
#include "runtime/scheduler/stack_guard.hpp"
#include "runtime/scheduler/stack_switch.hpp"

namespace runtime {

class Context;

/// What a scheduler asks of its owner, always on the OS thread that runs the fibers, unless said
/// otherwise.
class SchedulerOwner {
 public:
  /// Called between fibers, in no context.
  virtual void poll() = 0;
  /// Called when no fiber is ready, in no context. Makes one ready, or sleeps.
  virtual void idle() = 0;
  /// Ends idle(). Any thread may call it.
  virtual void notify() = 0;
  /// Runs the work that the context has, in its fiber.
  virtual void run_work(Context& context) = 0;
  /// Called when the last fiber with work has ended it.
  virtual void none_lives() = 0;

 protected:
  ~SchedulerOwner() = default;
};

/// Private to runtime/. Runs fibers, first come, first served. A fiber whose work has ended keeps
/// its stack, whose pages are warm, for the next work of a service.
///
/// Sharing: any thread may call make(). Only the OS thread that calls attach() uses the rest.
class Scheduler {
 public:
  /// The owner outlives this object.
  explicit Scheduler(SchedulerOwner& owner) : owner_(owner) {}

  /// Takes memory for a context and its stack. Any thread may call it. Throws if there is none.
  static Context& make(std::size_t stack_bytes);
  /// Begins the fiber of a context that make() made.
  void launch(Context& context);
  /// Returns a context whose work has ended, for reuse() with other work. Null: there is none.
  Context* take_idle();
  void reuse(Context& context);

  /// The calling OS thread is the one whose fibers these are, until detach().
  void attach();
  void detach();
  /// Runs fibers until none has work and, if `until_stopped`, stop() was called. Blocks until then.
  void run(bool until_stopped);
  /// Cancels all contexts, and has run() return when they have ended.
  void stop();
  bool is_stopped() const { return is_stopped_; }
  /// Runs other fibers until the calling one is made ready.
  void suspend_current();
  bool has_ready() const;

  LiveContexts live;

 private:
  class Algorithm;
  void run_fiber(Context& context);
  bool wait_for_work(Context& context);
  void dismiss_idle();
  void make_home_ready();

  static constexpr std::size_t idle_max = 256;  // more services than that take and give stacks
  SchedulerOwner& owner_;
  std::vector<Context*> idle_;
  std::size_t leaving_ = 0;  // of the idle ones, told to end
  bool is_stopped_ = false;
  Algorithm* algorithm_ = nullptr;
  StackSwitch switch_;
  boost::fibers::context* home_ = nullptr;  // the OS thread's own context, while it waits
};

}  // namespace runtime
