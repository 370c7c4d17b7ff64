// SPDX-License-Identifier: Apache-2.0
// paths/host/stages.cpp — passage of operations and failures from stage to stage.
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/reduce.hpp"
#include "pastset/errors.hpp"
#include "paths/host/deployment.hpp"
#include "paths/wrapper.hpp"
#include "runtime/wait.hpp"

namespace paths {
namespace {

/// Returns the contribution that the stages below get in place of an operation that has failed. The
/// contribution carries `failure`, but no value.
Operation failed_contribution(OperationHead head, const Failure& failure) {
  head.number = 0;
  head.contributions = 1;
  return {head, {}, failure};
}

/// State of an operation that owns the calling context. The object is on the stack of this context.
class OwnedOperation final : StateRoom<128>, public OperationState {
 public:
  OwnedOperation() : OperationState(room, true) {}
  Result take_result() {
    ENSURE(outcome_);
    if (stop_) std::rethrow_exception(stop_);
    if (outcome_->failure) throw TravelError(*outcome_->failure);
    return std::move(outcome_->result);
  }

 private:
  void arrived(Outcome&& outcome) noexcept override { outcome_.emplace(std::move(outcome)); }
  void stopped(std::exception_ptr stop) noexcept override { stop_ = std::move(stop); }

  std::optional<Outcome> outcome_;
  std::exception_ptr stop_;
};

// Many fibers may wait in functions that begin_stage() calls, and each of them should touch only
// one page of its stack. Code that begin_stage() rarely needs is therefore in separate functions
// that are not inlined.

[[gnu::noinline]] void run_in_context(Deployment& deployment, const Stage& stage,
                                      Operation&& operation, Responder responder) {
  const auto kept = std::make_shared<Responder>(std::move(responder));
  Next(deployment, stage, nullptr)
      .in_context([&deployment, &stage, kept, operation = std::move(operation)] {
        Outcome outcome;
        try {
          outcome.result = run_stage(deployment, stage, operation);
        } catch (const TravelError& error) {
          outcome.failure = std::make_shared<TravelError>(error);
        } catch (const runtime::Stop& stop) {
          outcome.failure = std::make_shared<TravelError>(deployment.name(), "", "",
                                                          fmt::format("ended: {}", stop.what()),
                                                          FailureCause::ended);
        }
        kept->reply(std::move(outcome));
      });
}

/// Passes a failed operation around a wrapper that does not see failed operations.
[[gnu::noinline]] void pass_by(Deployment& deployment, const Stage& stage, Operation&& operation,
                               Responder responder) {
  if (stage.below == nullptr) return responder.fail(operation.failure);
  Next(deployment, stage, nullptr).handle(std::move(operation), std::move(responder));
}

/// Fails an operation with the exception that the wrapper threw. If the wrapper had not passed a
/// move on (`called` is false), the stages below get a failed contribution in its place. Their
/// reply is ignored.
[[gnu::noinline]] void fail_here(const Next& next, const OperationHead& head, bool called,
                                 const std::exception_ptr& error, Responder responder) {
  Failure failure;
  std::exception_ptr stop;
  try {
    failure = next.failure_of(error, head.path);
  } catch (const runtime::Stop& stopped) {
    stop = std::current_exception();
    failure = next.deployment().failure(next.stage().wrapper->name(), head.path, stopped.what(),
                                        FailureCause::ended);
  }
  if (stop) return responder.stop(std::move(stop), std::move(failure));
  if (called || head.kind != OperationKind::move || next.stage().below == nullptr)
    return responder.fail(std::move(failure));
  responder.on_reply([failure](Responder up, const Outcome&) { up.fail(failure); });
  next.handle(failed_contribution(head, failure), std::move(responder));
}

}  // namespace

void BlockingWrapper::handle(Operation&& operation, Next next, Responder& responder) {
  ENSURE(responder.owns_context());
  responder.reply(operate(std::move(operation), next));
}

void Next::handle(Operation&& operation, Responder responder) const {
  ENSURE(stage_->below != nullptr);
  taken();
  operation.slot = stage_->slot + (stage_->wrapper->joins() ? 0 : operation.slot);
  begin_stage(*deployment_, *stage_->below, std::move(operation), std::move(responder));
}

Result Next::operator()(Operation operation) const {
  OwnedOperation owned;
  handle(std::move(operation), Responder(owned));
  return owned.take_result();
}

void Next::expect(base::Nanos until) const { deployment_->expect(until); }

void Next::in_context(std::function<void()> work) const {
  deployment_->services().spawn("service", std::move(work)).detach();
}

[[gnu::noinline]] Failure Next::failure_of(const std::exception_ptr& error,
                                           std::uint32_t path) const {
  const std::string& wrapper = stage_->wrapper->name();
  try {
    std::rethrow_exception(error);
  } catch (const TravelError& failure) {
    return std::make_shared<TravelError>(failure);
  } catch (const runtime::Stop&) {
    throw;
  } catch (const pastset::Marked& mark) {  // the text already names the origin
    return std::make_shared<TravelError>(error_of_mark(mark_of(mark)));
  } catch (const pastset::DeadlinePassed& late) {
    return deployment_->failure(wrapper, path, late.what(), FailureCause::deadline);
  } catch (const pastset::TemplateMismatch& wrong) {
    return deployment_->failure(wrapper, path, wrong.what(), FailureCause::refused_value);
  } catch (const pastset::ElementError& gone) {
    return deployment_->failure(wrapper, path, gone.what(), FailureCause::other);
  } catch (const base::BadValue& bad) {
    return deployment_->failure(wrapper, path, bad.what(), FailureCause::refused_value);
  } catch (const std::exception& other) {
    return deployment_->failure(wrapper, path, other.what(), FailureCause::application);
  } catch (...) {
    return deployment_->failure(wrapper, path, "threw an exception that is not a std::exception",
                                FailureCause::application);
  }
}

Result run_stage(Deployment& deployment, const Stage& stage, Operation operation) {
  OwnedOperation owned;
  begin_stage(deployment, stage, std::move(operation), Responder(owned));
  return owned.take_result();
}

void begin_stage(Deployment& deployment, const Stage& stage, Operation&& operation,
                 Responder responder) {
  if (operation.until == base::Nanos(0)) operation.until = deployment.operation_end();
  if (operation.failure && !stage.wrapper->sees_failed_operations())
    return pass_by(deployment, stage, std::move(operation), std::move(responder));
  if (stage.wrapper->needs_context() && !responder.owns_context())
    return run_in_context(deployment, stage, std::move(operation), std::move(responder));
  bool called = false;
  const Next next(deployment, stage, &called);
  const OperationHead head = operation;
  std::exception_ptr error;
  try {
    return stage.wrapper->handle(std::move(operation), next, responder);
  } catch (...) {
    error = std::current_exception();
  }
  ENSURE(responder);
  fail_here(next, head, called, error, std::move(responder));
}

}  // namespace paths
