// SPDX-License-Identifier: Apache-2.0
// paths/joins/sequence_queue.cpp — waiting of a round until all earlier rounds are decided.
#include "paths/joins/sequence_queue.hpp"

#include "base/errors.hpp"

namespace paths {

SequenceQueue::Turn::Turn(SequenceQueue& turns, std::string_view name, std::uint64_t sequence,
                          bool has_failed)
    : turns_(turns), sequence_(sequence) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(turns_.mutex_);
  if (!has_failed) {
    ENSURE(sequence >= turns_.next_sequence_);
    turns_.next_sequence_ = sequence + 1;
  }
  turns_.entered_.insert(sequence);
  try {
    while (*turns_.entered_.begin() != sequence_) {
      turns_.changed_.wait(lock, runtime::Deadline::never(),
                           {"decision of the round before", name, sequence_});
    }
  } catch (...) {
    turns_.entered_.erase(sequence_);
    turns_.changed_.wake_all(wakes);  // another round may now be the first in the queue
    throw;
  }
}

SequenceQueue::Turn::~Turn() {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(turns_.mutex_);
  turns_.entered_.erase(sequence_);
  turns_.changed_.wake_all(wakes);
}

}  // namespace paths
