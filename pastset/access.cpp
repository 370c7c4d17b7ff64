// SPDX-License-Identifier: Apache-2.0
// pastset/access.cpp — state and handle of a started read or move
#include "pastset/access.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/usage_error.hpp"
#include "pastset/element.hpp"

namespace pastset {

class StartedAccess::State final : public Access, public runtime::Completion {
 public:
  State(Element& of, Kind which, std::uint64_t from, base::Payload moved)
      : Access(which, from, std::move(moved)), element_(of), asked_(from) {}

  static void begin(const std::shared_ptr<State>& state) {
    state->self_ = state;
    state->element_.begin(*state);
  }
  bool cancel() {
    if (done() || !element_.cancel(*this)) return false;
    self_ = nullptr;
    return true;
  }
  /// Blocks until the operation has ended or the deadline has passed. Returns an empty string if it
  /// ended in time. Otherwise cancels it and returns a sentence that names what is missing.
  std::string wait_or_cancel(runtime::Deadline deadline) {
    if (done()) return {};  // the element may no longer exist
    const runtime::Reason reason{"a started access of element", element_.name(), asked_};
    if (wait(deadline, reason)) return {};
    const std::string late = element_.lateness(*this);
    if (cancel()) return late;
    wait(runtime::Deadline::never(),
         reason);  // served: the notification is imminent
    return {};
  }

 private:
  void notify() noexcept override {
    const std::shared_ptr<State> mine = std::move(self_);
    complete();
  }
  Element& element_;
  const std::uint64_t asked_;    // copy, because the element may change `number` while it waits
  std::shared_ptr<State> self_;  // keeps this object alive while the element owns it
};

StartedAccess::StartedAccess(Element& element, Access::Kind kind, std::uint64_t number,
                             base::Payload moved)
    : state_(std::make_shared<State>(element, kind, number, std::move(moved))) {
  State::begin(state_);
}

StartedAccess& StartedAccess::operator=(StartedAccess&& other) noexcept {
  if (this == &other) return *this;
  cancel();
  state_ = std::move(other.state_);
  return *this;
}

std::shared_ptr<StartedAccess::State> StartedAccess::started(const char* what) const {
  if (state_ == nullptr)
    throw base::UsageError(fmt::format(
        "{} of an access of an element that was not started, or was taken or cancelled before",
        what));
  return state_;
}

std::shared_ptr<runtime::Completion> StartedAccess::completion() const {
  return started("the completion");
}

Stored StartedAccess::take(runtime::Deadline deadline) {
  const std::shared_ptr<State> mine = started("the outcome");
  const std::string late = mine->wait_or_cancel(deadline);
  state_ = nullptr;
  if (!late.empty()) throw DeadlinePassed(late);
  if (mine->error) std::rethrow_exception(mine->error);
  return {mine->number, std::move(mine->tuple)};
}

bool StartedAccess::cancel() {
  if (state_ == nullptr || !state_->cancel()) return false;
  state_ = nullptr;
  return true;
}

}  // namespace pastset
