// SPDX-License-Identifier: Apache-2.0
// paths/joins/sequence_queue.hpp — rounds that several contexts bring at once are taken one by one,
// in order.
#pragma once
#include <cstdint>
#include <set>
#include <string_view>

#include "runtime/wait.hpp"

namespace paths {

/// The rounds inside a wrapper that decides one at a time.
///
/// Order:  by sequence; rounds must come in that order, but for failed ones, which may overtake
///         others, because nobody waits for their contributors, and which carry no tuple.
/// Blocks: while a round before is inside, without a deadline: that one has its own.
class SequenceQueue {
 public:
  /// A round's stay, from its coming to its decision.
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
  std::set<std::uint64_t> entered_;  // not decided yet; the first one's turn it is
  std::uint64_t next_sequence_ = 0;
  runtime::WaitList changed_;
};

}  // namespace paths
