// SPDX-License-Identifier: Apache-2.0
// paths/responder.cpp — replies with failures, and detection of wrong use.
#include "paths/responder.hpp"

#include <memory>

#include "base/errors.hpp"

namespace paths {

OperationState::~OperationState() { ENSURE(last_ == nullptr); }

void OperationState::Kept::up(OperationState&, Outcome&&) {
  base::report_bug(__FILE__, __LINE__, "a wrapper replied to an operation that it keeps waiting");
}

void Responder::reply(Result&& result) { reply(Outcome{std::move(result), nullptr}); }

void Responder::fail_dropped() {
  fail(std::make_shared<TravelError>("", "", "", "ended", FailureCause::ended));
}

void Responder::stop(std::exception_ptr stop, Failure failure) {
  state_->stopped(std::move(stop));
  fail(std::move(failure));
}

}  // namespace paths
