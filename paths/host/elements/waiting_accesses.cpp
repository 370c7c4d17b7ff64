// SPDX-License-Identifier: Apache-2.0
// paths/host/elements/waiting_accesses.cpp — waits of operations in an element.
#include "paths/host/elements/waiting_accesses.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "pastset/errors.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/elements/element_operation.hpp"
#include "runtime/continuation.hpp"

namespace paths {

using pastset::Access;

namespace {

std::optional<Access::Kind> kind_of(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::move: return Access::Kind::move;
    case OperationKind::observe: return Access::Kind::observe;
    case OperationKind::observe_number: return Access::Kind::observe_number;
    case OperationKind::newest: return Access::Kind::newest;
    default: return std::nullopt;
  }
}

}  // namespace

struct WaitingAccesses::Waiting final : Access, runtime::Continuation {
  Waiting(WaitingAccesses& of, Kind as, Operation& operation, const Next& rest)
      : Access(as, operation.number, std::move(operation.payload)),
        accesses(of),
        next_stages(rest),
        path(operation.path),
        sequence(operation.sequence),
        contributions(operation.contributions) {}
  void notify() noexcept override { runtime::schedule(next_stages.deployment().runtime(), *this); }
  void resume() noexcept override { accesses.told(*this); }

  Outcome outcome() const {
    if (error) return {{}, next_stages.failure_of(error, path)};
    Outcome made;
    made.result.number = number;
    made.result.sequence = sequence;
    if (kind == Kind::move) made.result.contributions = contributions;
    made.result.payload = tuple;
    return made;
  }

  WaitingAccesses& accesses;
  const Next next_stages;
  const std::uint32_t path;
  const std::uint64_t sequence;
  const std::uint64_t contributions;
  base::Nanos until{0};
  Responder responder;
  Waiting* previous_waiting = nullptr;
  Waiting* next_waiting = nullptr;
};

WaitingAccesses::~WaitingAccesses() { ENSURE(first_ == nullptr); }

Result WaitingAccesses::operate(const Operation& operation, const Deployment& deployment) const {
  try {
    return operate_on(element_, operation, operation.deadline());
  } catch (const pastset::DeadlinePassed& late) {
    if (hint_ == nullptr || operation.kind == OperationKind::move) throw;
    throw pastset::DeadlinePassed(late.what() + hint_(deployment.plan(), operation.path));
  }
}

void WaitingAccesses::handle(Operation&& operation, const Next& next, Responder& responder) {
  if (responder.owns_context()) return responder.reply(operate(operation, next.deployment()));
  const auto kind = kind_of(operation);
  if (!kind || nonblocking_on(element_).has(operation))
    return responder.reply(operate(operation, next.deployment()));
  Waiting& waiting = responder.emplace_state<Waiting>(*this, *kind, operation, next.detached());
  waiting.until = operation.until;
  waiting.responder = std::move(responder);
  {
    const runtime::Lock lock(mutex_);
    waiting.next_waiting = first_;
    if (first_ != nullptr) first_->previous_waiting = &waiting;
    first_ = &waiting;
  }
  element_.begin(waiting);
  // expect() must follow begin(), because end_late() skips operations that have not begun.
  next.expect(waiting.until);
}

void WaitingAccesses::told(Waiting& waiting) {
  {
    const runtime::Lock lock(mutex_);
    unlink(waiting);
  }
  answer(waiting, waiting.outcome());
}

/// Removes an operation from the list of waiting operations.
/// Requires: mutex_ held.
void WaitingAccesses::unlink(Waiting& waiting) {
  (waiting.previous_waiting != nullptr ? waiting.previous_waiting->next_waiting : first_) =
      waiting.next_waiting;
  if (waiting.next_waiting != nullptr)
    waiting.next_waiting->previous_waiting = waiting.previous_waiting;
}

void WaitingAccesses::answer(Waiting& waiting, Outcome&& outcome) {
  Responder responder = std::move(waiting.responder);
  responder.pop_state();
  responder.reply(std::move(outcome));
}

base::Nanos WaitingAccesses::end_late(base::Nanos now) {
  base::Nanos next = base::Nanos::max();
  std::vector<Waiting*> late;
  {
    const runtime::Lock lock(mutex_);
    for (Waiting* waiting = first_; waiting != nullptr;) {
      Waiting& one = *std::exchange(waiting, waiting->next_waiting);
      if (one.until > now) {
        next = std::min(next, one.until);
        continue;
      }
      std::string text;
      if (!element_.cancel(one, &text)) continue;  // the element is about to notify this operation
      if (hint_ != nullptr && one.kind != Access::Kind::move)
        text += hint_(one.next_stages.deployment().plan(), one.path);
      one.error = std::make_exception_ptr(pastset::DeadlinePassed(text));
      unlink(one);
      late.push_back(&one);
    }
  }
  for (Waiting* one : late) answer(*one, one->outcome());
  return next;
}

void WaitingAccesses::give_up() {
  std::vector<Waiting*> ended;
  {
    const runtime::Lock lock(mutex_);
    for (Waiting* waiting = first_; waiting != nullptr;) {
      Waiting& one = *std::exchange(waiting, waiting->next_waiting);
      if (!element_.cancel(one)) continue;
      unlink(one);
      ended.push_back(&one);
    }
  }
  for (Waiting* one : ended)
    answer(*one, {{},
                  one->next_stages.deployment().failure(one->next_stages.stage().wrapper->name(),
                                                        one->path, "ended", FailureCause::ended)});
}

}  // namespace paths
