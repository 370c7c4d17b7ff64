// SPDX-License-Identifier: Apache-2.0
// runtime/polling/busy_poll_scope.hpp — a scope in which a thread polls between its waits
#pragma once

namespace runtime {

class Context;

/// Keeps the calling thread registered as polling with its runtime's pollers, also between its
/// waits. Other processes then do not wake the services' thread for messages that this thread will
/// receive shortly.
///
/// Usage: for code that computes for at most a few microseconds between its waits. During such a
///   computation no thread handles messages, not even messages for other threads. A wait that
///   sleeps ends the registration until the next wait.
/// Why: two processes often send and wait in turn. Without this scope, each process would find that
///   its peer is not polling, because the peer is just sending.
/// Thread-safe: no. The thread that creates it also destroys it. This object does nothing in a
///   fiber.
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
