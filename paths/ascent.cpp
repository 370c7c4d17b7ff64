// SPDX-License-Identifier: Apache-2.0
// paths/ascent.cpp — from stage to stage, upwards.
#include "paths/ascent.hpp"

#include "base/errors.hpp"

namespace paths {

Trip::~Trip() { ENSURE(last_ == nullptr); }

void Trip::Kept::up(Ascent, Outcome&&) {
  base::report_bug(__FILE__, __LINE__, "an operation was answered that is still kept waiting");
}

void Trip::let_go_last() {
  Kept* const gone = last_;
  last_ = gone->before;
  used_ = gone->room_before;
  const bool is_in_room = gone->is_in_room;
  void* const memory = dynamic_cast<void*>(gone);
  gone->~Kept();
  if (!is_in_room) ::operator delete(memory);
}

void Ascent::fail_dropped() { fail(std::make_shared<TravelError>("", "", "", "ended")); }

void Ascent::answer(Outcome&& outcome) {
  Trip* const trip = std::exchange(trip_, nullptr);
  if (trip->last_ != nullptr) return trip->last_->up(Ascent(*trip), std::move(outcome));
  trip->arrived(std::move(outcome));
}

}  // namespace paths
