// SPDX-License-Identifier: Apache-2.0
// runtime/wait.cpp — lists of blocked contexts.
#include "runtime/wait.hpp"

#include <utility>

#include "base/errors.hpp"
#include "runtime/context.hpp"
#include "runtime/executor.hpp"

namespace runtime {

struct WaitList::Place {
  Context* context = nullptr;
  bool taken = false;
  Place* previous = nullptr;
  Place* next = nullptr;
};

WaitList::~WaitList() { ENSURE(first_ == nullptr); }

void WaitList::remove(Place& place) {
  (place.previous != nullptr ? place.previous->next : first_) = place.next;
  (place.next != nullptr ? place.next->previous : last_) = place.previous;
}

WaitList::Place* WaitList::take_first() {
  Place* place = first_;
  if (place != nullptr) {
    remove(*place);
    place->taken = true;
  }
  return place;
}

Woken WaitList::wait(Lock& lock, Deadline deadline, const Reason& reason) {
  Context* self = Context::current();
  ENSURE(self != nullptr);  // callbacks must not block
  self->throw_if_cancelled();
  const bool is_event =
      deadline.written || self->executor == nullptr || !self->executor->is_virtual();
  const Nanos until = is_event ? deadline.at : Nanos::max();

  Place place;
  place.context = self;
  place.previous = last_;
  (last_ != nullptr ? last_->next : first_) = &place;
  last_ = &place;
  for (;;) {
    lock.unlock();
    const bool in_time = self->park(until, reason);
    lock.lock();
    if (place.taken) return Woken::notified;
    try {
      self->throw_if_cancelled();
    } catch (...) {
      remove(place);
      throw;
    }
    if (!in_time) {
      remove(place);
      return Woken::expired;
    }
  }
}

void WaitList::wake_one(Wakes& wakes) {
  Place* place = take_first();
  if (place == nullptr) return;
  auto& list = place->context->role == ContextRole::service ? wakes.services_ : wakes.threads_;
  list.push_back(place->context);
}

void WaitList::wake_all(Wakes& wakes) {
  while (!empty()) wake_one(wakes);
}

Wakes::~Wakes() {
  for (Context* context : services_) context->unpark();
  for (Context* context : threads_) context->unpark();
}

void Wakes::services_first() {
  if (services_.empty()) return;
  services_.front()->executor->wake_in_order(std::exchange(services_, {}),
                                             std::exchange(threads_, {}));
}

}  // namespace runtime
