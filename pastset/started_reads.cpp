// SPDX-License-Identifier: Apache-2.0
// pastset/started_reads.cpp — list of started reads, and the notification of ended accesses
#include "pastset/started_reads.hpp"

namespace pastset {

void answer(Access& access, std::uint64_t number, runtime::DeferredWakes& wakes) {
  access.number = number;
  wakes.notify(access);
}

void fail(Access& access, std::exception_ptr error, runtime::DeferredWakes& wakes) {
  access.error = std::move(error);
  wakes.notify(access);
}

void StartedReads::begin(Access& read) {
  read.is_waiting = true;
  read.next = nullptr;
  read.previous = last_;
  (last_ != nullptr ? last_->next : first_) = &read;
  last_ = &read;
}

void StartedReads::leave(Access& read) {
  if (!std::exchange(read.is_waiting, false)) return;
  (read.previous != nullptr ? read.previous->next : first_) = read.next;
  (read.next != nullptr ? read.next->previous : last_) = read.previous;
}

void StartedReads::fail_all(const std::exception_ptr& error, runtime::DeferredWakes& wakes) {
  while (first_ != nullptr) {
    Access& read = *first_;
    leave(read);
    fail(read, error, wakes);
  }
}

}  // namespace pastset
