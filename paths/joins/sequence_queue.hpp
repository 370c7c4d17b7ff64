// SPDX-License-Identifier: Apache-2.0
// paths/joins/sequence_queue.hpp — admission of rounds one by one, in order of sequence.
#pragma once
#include <cstdint>
#include <set>
#include <string_view>

#include "runtime/wait.hpp"

namespace paths {

/// Queue by which a wrapper decides one round at a time. All other rounds wait in the queue.
///
/// Blocks: without a deadline while the wrapper decides an earlier round, because the earlier round
///         has a deadline.
/// Order:  by sequence. Rounds must arrive in this order, except failed rounds. A failed round may
///         overtake other rounds, because no other contributor waits for it and it carries no
///         tuple.
class SequenceQueue {
 public:
  /// Entry of a round in the queue. The constructor blocks until all earlier rounds in the queue
  /// are decided. The destructor removes the round, which is then decided.
  class Turn {
   public:
    Turn(SequenceQueue& turns, std::string_view name, std::uint64_t sequence, bool has_failed);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    SequenceQueue& turns_;
    const std::uint64_t sequence_;
  };

 private:
  runtime::Mutex mutex_;
  std::set<std::uint64_t> entered_;  // undecided rounds in the queue; the lowest is decided first
  std::uint64_t next_sequence_ = 0;
  runtime::WaitList changed_;
};

}  // namespace paths
