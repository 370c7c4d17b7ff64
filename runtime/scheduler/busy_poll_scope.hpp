// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/busy_poll_scope.hpp — a scope in which a thread polls between its waits
#pragma once

namespace runtime {

class Context;

/// Keeps the calling thread registered as polling with its runtime's pollers, also between its
/// waits. Other processes then do not wake the services' thread for messages that this thread will
/// receive shortly.
///
/// Usage: for code in which only the thread's own waits take longer than a few microseconds.
///   Messages for other threads are not handled meanwhile. A wait that sleeps ends the registration
///   until the next wait.
/// Why: without it, two processes that send and wait in turn would each find the other not polling,
/// because the other one is sending at that moment.
/// Thread-safe: no, for one thread only. It does nothing in a fiber.
class BusyPollScope {
 public:
  BusyPollScope();
  ~BusyPollScope();
  BusyPollScope(const BusyPollScope&) = delete;
  BusyPollScope& operator=(const BusyPollScope&) = delete;

 private:
  Context* const self_;
};

}  // namespace runtime
