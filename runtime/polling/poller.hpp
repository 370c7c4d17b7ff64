// SPDX-License-Identifier: Apache-2.0
// runtime/polling/poller.hpp — a source of messages that an OS thread polls while it waits
#pragma once

namespace runtime {

/// Receives messages from other processes. A waiting thread polls for its own message, so that no
/// other thread must be woken to pass it on. While no thread polls, an arrival wakes the services'
/// thread, which then receives for all threads.
///
/// Thread-safe: yes. Several threads may call begin_polling(), poll() and end_polling() at the same
///   time.
/// Blocks: never. Context::current() is nullptr in begin_polling(), poll() and end_polling().
class Poller {
 public:
  Poller() = default;
  virtual ~Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  /// Registers the caller as polling. The caller must call poll() repeatedly until end_polling().
  virtual void begin_polling() = 0;
  /// Receives the messages that have arrived, unless another thread is receiving them. Returns
  /// whether this call received a message.
  virtual bool poll() = 0;
  /// Unregisters the caller. While a thread is registered, messages arrive without a wake-up. The
  /// last thread that unregisters therefore receives such messages in this call.
  virtual void end_polling() = 0;
};

}  // namespace runtime
