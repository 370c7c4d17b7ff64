// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/poller.hpp — what an OS thread looks at while it waits: where word from outside
// comes in.
#pragma once

namespace runtime {

/// Brings what comes from other processes. Whoever waits looks for it himself, so that nobody has
/// to be woken to hand it to him (leader and followers); while nobody looks, what comes has to wake
/// the services' thread, which so is everybody's follower.
///
/// Sharing: several threads come, look and leave at once, in no context: it must not block.
class Poller {
 public:
  Poller() = default;
  virtual ~Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  /// The caller looks from now on, again and again, until it leaves.
  virtual void begin_polling() = 0;
  /// Takes in what has come, unless another thread does just now; whether that was anything.
  virtual bool poll() = 0;
  /// The last to leave takes in what came while nobody had to be woken.
  virtual void end_polling() = 0;
};

}  // namespace runtime
