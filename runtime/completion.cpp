// SPDX-License-Identifier: Apache-2.0
// runtime/completion.cpp — notification of the waiters and sets of a completion
#include "runtime/completion.hpp"

#include <utility>

#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/scheduler/executor.hpp"

namespace runtime {

/// A completion as a member of one WaitSet. Until its event has happened, it is in the list of the
/// completion; afterwards it is in the list of the set.
struct Completion::Watch {
  std::shared_ptr<Completion> completion;
  WaitSet* set = nullptr;
  std::size_t member = 0;
  bool has_happened = false;
  Watch* previous = nullptr;
  Watch* next = nullptr;
};

Completion::~Completion() { ENSURE(first_ == nullptr); }

void Completion::complete() {
  DeferredWakes wakes;
  complete(wakes);
}

void Completion::complete(DeferredWakes& wakes) {
  Lock lock(mutex_);
  ENSURE(!done());
  done_.store(true, std::memory_order_release);
  waiting_.wake_all(wakes);
  for (Watch* watch = std::exchange(first_, nullptr); watch != nullptr;) {
    Watch* const next = watch->next;
    watch->set->tell(*watch, wakes);
    watch = next;
  }
}

bool Completion::wait(Deadline deadline, const Reason& reason) {
  if (done()) return true;
  Lock lock(mutex_);
  while (!done())
    if (waiting_.wait(lock, deadline, reason) == Woken::expired) return done();
  return true;
}

WaitSet::WaitSet(const Runtime& runtime) : runtime_(runtime) {}

WaitSet::~WaitSet() {
  while (!members_.empty()) let_go(members_.begin());
}

std::size_t WaitSet::add(std::shared_ptr<Completion> completion) {
  const std::size_t member = next_member_++;
  Members::iterator at;
  if (kept_.empty()) {
    at = members_.emplace(member, std::make_unique<Watch>()).first;
  } else {
    kept_.back().key() = member;
    at = members_.insert(std::move(kept_.back())).position;
    kept_.pop_back();
  }
  Watch& watch = *at->second;
  Completion& watched = *completion;
  watch = {std::move(completion), this, member};
  Lock lock(watched.mutex_);
  {
    Lock own_lock(mutex_);
    ++pending_;
  }
  if (watched.done()) {
    DeferredWakes nobody;
    tell(watch, nobody);
    return member;
  }
  watch.next = watched.first_;
  if (watch.next != nullptr) watch.next->previous = &watch;
  watched.first_ = &watch;
  return member;
}

/// Adds a member whose event has happened to the list for any(). Wakes any(). Also wakes all() if
/// the events of all members have now happened.
/// Requires: the mutex of the completion is held.
void WaitSet::tell(Watch& watch, DeferredWakes& wakes) {
  Lock lock(mutex_);
  watch.has_happened = true;
  watch.previous = last_;
  watch.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &watch;
  last_ = &watch;
  any_.wake_all(wakes);
  if (--pending_ == 0) all_.wake_all(wakes);
}

void WaitSet::remove(std::size_t member) {
  if (const auto found = members_.find(member); found != members_.end()) let_go(found);
}

void WaitSet::let_go(Members::iterator at) {
  Watch& watch = *at->second;
  {
    // The destruction of `gone` below possibly destroys the completion with its mutex. That is
    // safe, because a thread that called complete() has unlocked the mutex by now.
    Lock lock(watch.completion->mutex_);
    Lock own_lock(mutex_);
    if (!watch.has_happened) --pending_;
    Watch*& first = watch.has_happened ? first_ : watch.completion->first_;
    (watch.previous != nullptr ? watch.previous->next : first) = watch.next;
    if (watch.next != nullptr)
      watch.next->previous = watch.previous;
    else if (watch.has_happened)
      last_ = watch.previous;
  }
  const std::shared_ptr<Completion> gone = std::move(watch.completion);
  kept_.push_back(members_.extract(at));
}

std::optional<std::size_t> WaitSet::try_any() {
  std::size_t member = 0;
  {
    Lock lock(mutex_);
    if (first_ == nullptr) return std::nullopt;
    member = first_->member;
  }
  remove(member);
  return member;
}

std::optional<std::size_t> WaitSet::any(Deadline deadline) {
  if (members_.empty()) throw base::UsageError("wait for any of a set that has no members left");
  {
    Lock lock(mutex_);
    while (first_ == nullptr)
      if (!wait(any_, lock, deadline) && first_ == nullptr) return std::nullopt;
  }
  return try_any();
}

bool WaitSet::all(Deadline deadline) {
  Lock lock(mutex_);
  while (pending_ > 0)
    if (!wait(all_, lock, deadline) && pending_ > 0) return false;
  return true;
}

/// While this object exists, a thread that the runtime did not start can wait on the runtime's
/// clock.
class WaitSet::OnClock {
 public:
  explicit OnClock(Executor& executor) : self_(Context::current()) {
    if (self_ == nullptr || self_->executor == &executor) return;
    if (self_->executor != nullptr)
      throw base::UsageError("wait for a set of another run than the calling context's");
    if (!executor.is_parallel())
      throw base::UsageError(
          "a thread that the run did not start cannot wait on its virtual clock");
    self_->executor = &executor;
    has_borrowed_ = true;
  }
  ~OnClock() {
    if (has_borrowed_) self_->executor = nullptr;
  }
  OnClock(const OnClock&) = delete;
  OnClock& operator=(const OnClock&) = delete;

 private:
  Context* const self_;
  bool has_borrowed_ = false;
};

/// Returns false if the deadline has passed. Requires: mutex_ is held.
bool WaitSet::wait(WaitList& list, Lock& lock, Deadline deadline) {
  const OnClock clock(*runtime_.executor_);
  return list.wait(lock, deadline, {"a wait set whose members", "that are left are", pending_}) ==
         Woken::notified;
}

}  // namespace runtime
