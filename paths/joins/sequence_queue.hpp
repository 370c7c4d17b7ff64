// SPDX-License-Identifier: Apache-2.0
// paths/joins/sequence_queue.hpp — admission of rounds one by one, in order of sequence.
#pragma once
#include <cstdint>
#include <set>
#include <string_view>

#include "runtime/wait.hpp"

namespace paths {

/// Lets a wrapper decide one round at a time. The other rounds wait here.
///
/// Blocks: without a deadline while the wrapper decides an earlier round, because that
///         round has its own deadline.
/// Order:  by sequence. Rounds must arrive in this order, except failed ones. Failed rounds may
///         overtake others, because no other contributor waits for them and they carry no tuple.
class SequenceQueue {
 public:
  /// A round's entry in the queue. It exists from the arrival of the round until its decision.
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
