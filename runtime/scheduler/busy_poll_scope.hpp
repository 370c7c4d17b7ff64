// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/busy_poll_scope.hpp — between two waits that follow each other at once.
#pragma once

namespace runtime {

class Context;

/// While it lives, the calling thread says to its runtime's pollers that it looks, also between its
/// waits: other processes then do not wake the services' thread for what it will see in a moment.
///
/// Why:     who sends and then waits, again and again, would be found not looking by a peer that
///          does the same, each of them while it sends.
/// For:     spans in which nothing but the thread's own waits takes longer than some microseconds;
///          what comes for others lies there meanwhile. A wait that sleeps ends it until the next.
/// Sharing: one thread's. Does nothing in a fiber.
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
