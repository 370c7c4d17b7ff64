// SPDX-License-Identifier: Apache-2.0
// paths/host/stages.cpp — how an operation goes from stage to stage, and how its failure does.
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "pastset/errors.hpp"
#include "paths/host/wiring.hpp"
#include "paths/wrapper.hpp"
#include "runtime/wait.hpp"

namespace paths {
namespace {

/// What is left of an operation when its contribution has failed.
Operation failed_contribution(const Operation& operation) {
  Operation failed;
  failed.kind = operation.kind;
  failed.one_way = operation.one_way;
  failed.kept = operation.kept;
  failed.path = operation.path;
  failed.thread = operation.thread;
  failed.slot = operation.slot;
  failed.segment = operation.segment;
  failed.segments = operation.segments;
  failed.epoch = operation.epoch;
  failed.sequence = operation.sequence;
  return failed;
}

/// The stages below learn of the failure; what they answer is that same failure, or nothing new.
void carry_down(Wiring& wiring, const Stage& stage, Operation failed, Failure failure) {
  failed.failure = std::move(failure);
  try {
    Next(wiring, stage, nullptr)(std::move(failed));
  } catch (const TravelError&) {
  }
}

}  // namespace

Result Next::operator()(Operation operation) const {
  ENSURE(stage_->below != nullptr);
  taken();
  operation.slot = stage_->slot + (stage_->wrapper->joins() ? 0 : operation.slot);
  return run_stage(*wiring_, *stage_->below, std::move(operation));
}

Result run_stage(Wiring& wiring, const Stage& stage, Operation operation) {
  if (operation.failure && !stage.wrapper->takes_failures()) {
    if (stage.below == nullptr) throw TravelError(*operation.failure);
    return Next(wiring, stage, nullptr)(std::move(operation));
  }
  bool called = false;
  Operation failed = failed_contribution(operation);
  Failure failure;
  try {
    return stage.wrapper->operate(std::move(operation), Next(wiring, stage, &called));
  } catch (const TravelError& error) {
    failure = std::make_shared<TravelError>(error);
  } catch (const runtime::Stop&) {
    throw;
  } catch (const pastset::Marked& mark) {  // says itself where it began
    failure = std::make_shared<TravelError>("", "", "", mark.what());
  } catch (const std::exception& error) {
    failure = wiring.failure(stage.wrapper->name(), failed.path, error.what());
  } catch (...) {
    failure = wiring.failure(stage.wrapper->name(), failed.path, "threw what is no std::exception");
  }
  if (!called && failed.kind == OperationKind::move && stage.below != nullptr)
    carry_down(wiring, stage, std::move(failed), failure);
  throw TravelError(*failure);
}

}  // namespace paths
