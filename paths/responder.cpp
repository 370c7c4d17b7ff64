// SPDX-License-Identifier: Apache-2.0
// paths/responder.cpp — replies, step by step upwards.
#include "paths/responder.hpp"

#include <memory>

#include "base/errors.hpp"

namespace paths {

OperationState::~OperationState() { ENSURE(last_ == nullptr); }

void OperationState::Kept::up(Responder, Outcome&&) {
  base::report_bug(__FILE__, __LINE__, "a wrapper replied to an operation that it keeps waiting");
}

void OperationState::pop() {
  Kept* const gone = last_;
  last_ = gone->before;
  used_ = gone->room_before;
  const bool is_in_room = gone->is_in_room;
  void* const memory = dynamic_cast<void*>(gone);
  gone->~Kept();
  if (!is_in_room) ::operator delete(memory);
}

void Responder::fail_dropped() { fail(std::make_shared<TravelError>("", "", "", "ended")); }

void Responder::stop(std::exception_ptr stop, Failure failure) {
  state_->stopped(std::move(stop));
  fail(std::move(failure));
}

void Responder::reply(Outcome&& outcome) {
  OperationState* const state = std::exchange(state_, nullptr);
  if (state->last_ != nullptr) return state->last_->up(Responder(*state), std::move(outcome));
  state->arrived(std::move(outcome));
}

}  // namespace paths
