// SPDX-License-Identifier: Apache-2.0
// runtime/wait.cpp — lists of blocked contexts, and deferred wake-ups
#include "runtime/wait.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "runtime/polling/futex.hpp"
#include "runtime/polling/polling.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/executor.hpp"

namespace runtime {

struct WaitList::Place {
  Context* context = nullptr;
  bool taken = false;
  Place* previous = nullptr;
  Place* next = nullptr;
};

WaitList::~WaitList() {
  ENSURE(empty());
  if (futex_ != nullptr) Futex::give_back(*futex_);
}

void WaitList::remove(Place& place) {
  (place.previous != nullptr ? place.previous->next : first_) = place.next;
  (place.next != nullptr ? place.next->previous : last_) = place.previous;
}

Woken WaitList::wait(Lock& lock, Deadline deadline, const Reason& reason) {
  Context* self = Context::current();
  ENSURE(self != nullptr);  // self is nullptr in a callback, which must not block
  self->throw_if_cancelled();
  const Nanos until =
      self->executor == nullptr ? deadline.at : self->executor->clock().end_of(deadline);
  if (until != Nanos::max() && self->executor == nullptr)
    throw base::UsageError(fmt::format(
        "a wait for {} {} until a deadline, by a thread that is not of the run: attach it first",
        reason.what, reason.subject));
  return self->is_fiber ? wait_in_line(*self, lock, until, reason)
                        : wait_at_futex(*self, lock, until, reason);
}

Woken WaitList::wait_in_line(Context& self, Lock& lock, Nanos until, const Reason& reason) {
  Place place;
  place.context = &self;
  place.previous = last_;
  (last_ != nullptr ? last_->next : first_) = &place;
  last_ = &place;
  for (;;) {
    lock.unlock();
    const bool in_time = self.park(until, reason);
    lock.lock();
    if (place.taken) return Woken::notified;
    try {
      self.throw_if_cancelled();
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

Woken WaitList::wait_at_futex(Context& self, Lock& lock, Nanos until, const Reason& reason) {
  if (futex_ == nullptr) futex_ = &Futex::take();
  ++threads_;
  for (const std::uint32_t wakes_before = wakes_;;) {
    const std::uint32_t seen = futex_->value();
    lock.unlock();
    const bool in_time = self.park_at(*futex_, seen, until, reason);
    lock.lock();
    if (wakes_ != wakes_before) return Woken::notified;
    try {
      self.throw_if_cancelled();
    } catch (...) {
      --threads_;
      throw;
    }
    if (!in_time) {
      --threads_;
      return Woken::expired;
    }
  }
}

void WaitList::wake_all(DeferredWakes& wakes) {
  for (; first_ != nullptr; remove(*first_)) {
    first_->taken = true;
    wakes.add(*first_->context);
  }
  if (std::exchange(threads_, 0) == 0) return;
  ++wakes_;
  wakes.add(*futex_);
}

void DeferredWakes::One::wake() const {
  if (fiber != nullptr)
    fiber->unpark();
  else
    futex->change();
}

void DeferredWakes::Threads::wake() const {
  if (futex != nullptr) futex->change();
  for (const One& one : others) one.wake();
}

void DeferredWakes::add(Context& fiber) {
  others_.push_back({&fiber, nullptr, fiber.role == ContextRole::service});
}

void DeferredWakes::add(Futex& futex) {
  if (futex_ == nullptr)
    futex_ = &futex;
  else
    others_.push_back({nullptr, &futex, false});
}

void DeferredWakes::notify(Waiter& one) {
  one.next_waiter_ = nullptr;
  (last_waiter_ != nullptr ? last_waiter_->next_waiter_ : first_waiter_) = &one;
  last_waiter_ = &one;
}

void DeferredWakes::notify_all() {
  last_waiter_ = nullptr;
  for (Waiter* one = std::exchange(first_waiter_, nullptr); one != nullptr;) {
    Waiter* const next = one->next_waiter_;  // notify() may destroy the waiter
    one->notify();
    one = next;
  }
}

std::vector<Context*> DeferredWakes::take_services() {
  std::vector<Context*> services;
  for (const One& one : others_)
    if (one.is_service) services.push_back(one.fiber);
  std::erase_if(others_, [](const One& one) { return one.is_service; });
  return services;
}

void DeferredWakes::carry_out() {
  notify_all();
  // Reads `is_service` from the entry, not from the context: an earlier wake-up may already have
  // ended the context.
  for (const One& one : others_)
    if (one.is_service) one.wake();
  if (futex_ != nullptr) futex_->change();
  for (const One& one : others_)
    if (!one.is_service) one.wake();
}

void DeferredWakes::services_first() {
  notify_all();
  std::vector<Context*> services = take_services();
  if (services.empty()) return;
  Clock& clock = services.front()->executor->clock();
  clock.wake_in_order(std::move(services),
                      {std::exchange(futex_, nullptr), std::exchange(others_, {})});
}

}  // namespace runtime
