// SPDX-License-Identifier: Apache-2.0
// paths/host/stages.cpp — how an operation goes from stage to stage, and how its failure does.
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "pastset/errors.hpp"
#include "paths/host/wiring.hpp"
#include "paths/wrapper.hpp"
#include "runtime/wait.hpp"

namespace paths {
namespace {

/// What is left of an operation when its contribution has failed.
Operation failed_contribution(OperationHead head, const Failure& failure) {
  head.number = 0;
  head.contributions = 1;
  return {head, {}, failure};
}

/// The stages below learn of the failure; what they answer is that same failure, or nothing new.
void carry_down(Wiring& wiring, const Stage& stage, Operation failed) {
  try {
    Next(wiring, stage, nullptr)(std::move(failed));
  } catch (const TravelError&) {
  }
}

// Very many fibers may wait below run_stage(), each on a stack of which it should touch one page.
// So failures are handled in frames of their own.

/// run_stage() of an operation that failed further up, in a wrapper that does not see failures.
[[gnu::noinline]] Result pass_by(Wiring& wiring, const Stage& stage, Operation&& operation) {
  if (stage.below == nullptr) throw TravelError(*operation.failure);
  return Next(wiring, stage, nullptr)(std::move(operation));
}

/// run_stage() of an operation that failed here; `called` if the stages below have seen it.
[[noreturn, gnu::noinline]] void fail_here(Wiring& wiring, const Stage& stage,
                                           const OperationHead& head, bool called,
                                           const Failure& failure) {
  if (!called && head.kind == OperationKind::move && stage.below != nullptr)
    carry_down(wiring, stage, failed_contribution(head, failure));
  throw TravelError(*failure);
}

/// In a context of its own, by run_stage().
void run_in_context(Wiring& wiring, const Stage& stage, Operation&& operation, Ascent ascent) {
  const auto kept = std::make_shared<Ascent>(std::move(ascent));
  Next(wiring, stage, nullptr)
      .in_context([&wiring, &stage, kept, operation = std::move(operation)] {
        Outcome outcome;
        try {
          outcome.result = run_stage(wiring, stage, operation);
        } catch (const TravelError& error) {
          outcome.failure = std::make_shared<TravelError>(error);
        } catch (const runtime::Stop& stop) {
          outcome.failure = std::make_shared<TravelError>(wiring.name(), "", "",
                                                          fmt::format("ended: {}", stop.what()));
        }
        kept->answer(std::move(outcome));
      });
}

}  // namespace

void Wrapper::begin(Operation&&, Next, Ascent&) {
  base::report_bug(__FILE__, __LINE__, "a wrapper was begun that needs a context");
}

Result Next::operator()(Operation operation) const {
  ENSURE(stage_->below != nullptr);
  taken();
  operation.slot = stage_->slot + (stage_->wrapper->joins() ? 0 : operation.slot);
  return run_stage(*wiring_, *stage_->below, std::move(operation));
}

void Next::begin(Operation&& operation, Ascent ascent) const {
  ENSURE(stage_->below != nullptr);
  taken();
  operation.slot = stage_->slot + (stage_->wrapper->joins() ? 0 : operation.slot);
  begin_stage(*wiring_, *stage_->below, std::move(operation), std::move(ascent));
}

void Next::expect(base::Nanos until) const { wiring_->expect(until); }

void Next::in_context(std::function<void()> work) const {
  wiring_->spawn_service("service", std::move(work)).detach();
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
  } catch (const pastset::Marked& mark) {  // says itself where it began
    return std::make_shared<TravelError>("", "", "", mark.what());
  } catch (const std::exception& other) {
    return wiring_->failure(wrapper, path, other.what());
  } catch (...) {
    return wiring_->failure(wrapper, path, "threw what is no std::exception");
  }
}

Result run_stage(Wiring& wiring, const Stage& stage, Operation operation) {
  if (operation.failure && !stage.wrapper->takes_failures())
    return pass_by(wiring, stage, std::move(operation));
  bool called = false;
  const OperationHead head = operation;
  Failure failure;
  const Next next(wiring, stage, &called);
  try {
    return stage.wrapper->operate(std::move(operation), next);
  } catch (...) {
    failure = next.failure_of(std::current_exception(), head.path);
  }
  fail_here(wiring, stage, head, called, failure);
}

void begin_stage(Wiring& wiring, const Stage& stage, Operation&& operation, Ascent ascent) {
  bool called = false;
  const Next next(wiring, stage, &called);
  if (operation.failure && !stage.wrapper->takes_failures()) {
    if (stage.below == nullptr) return ascent.fail(operation.failure);
    return next.begin(std::move(operation), std::move(ascent));
  }
  if (!stage.wrapper->begins())
    return run_in_context(wiring, stage, std::move(operation), std::move(ascent));
  const OperationHead head = operation;
  Failure failure;
  try {
    return stage.wrapper->begin(std::move(operation), next, ascent);
  } catch (...) {
    failure = next.failure_of(std::current_exception(), head.path);
  }
  ENSURE(ascent);
  if (called || head.kind != OperationKind::move || stage.below == nullptr)
    return ascent.fail(failure);
  ascent.then([failure](Ascent up, const Outcome&) { up.fail(failure); });
  next.begin(failed_contribution(head, failure), std::move(ascent));
}

}  // namespace paths
