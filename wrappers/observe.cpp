// SPDX-License-Identifier: Apache-2.0
// wrappers/observe.cpp — read-only operations on an element.
#include "wrappers/observe.hpp"

#include <fmt/format.h>

#include <string>

#include "pastset/errors.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/elements/element_operation.hpp"
#include "paths/plan/element_setting.hpp"

namespace wrappers {
namespace {

using paths::OperationKind;

bool only_reads(OperationKind kind) {
  switch (kind) {
    case OperationKind::enter:
    case OperationKind::observe:
    case OperationKind::observe_number:
    case OperationKind::newest:
    case OperationKind::first:
    case OperationKind::last:
    case OperationKind::delta:
    case OperationKind::release:
    case OperationKind::withdraw:
    case OperationKind::traffic:
    case OperationKind::clock: return true;
    case OperationKind::move:
    case OperationKind::set_delta:
    case OperationKind::axe:
    case OperationKind::delete_element: break;
  }
  return false;
}

}  // namespace

void Observe::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  refuse_changes(operation);
  waiting_.handle(std::move(operation), next, responder);
}

void Observe::refuse_changes(const paths::Operation& operation) const {
  if (only_reads(operation.kind)) return;
  throw pastset::ElementError(
      fmt::format("element '{}': {} is refused, because this path ends in observe, which only "
                  "reads; end it in store instead",
                  element_->name(), paths::operation_name(operation.kind)));
}

paths::WrapperKind observe_kind() {
  paths::WrapperKind kind;
  kind.name = "observe";
  kind.help = "Ends a path in an element that the path may only read.";
  kind.settings = {{"element", "element", "required", "The element of this host to read."}};
  kind.job = paths::Job::store;
  kind.only_reads = true;
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const std::string element = paths::read_element(reader, "element", place);
    return [element](paths::Deployment& deployment) {
      return std::make_unique<Observe>(deployment.element(element));
    };
  };
  return kind;
}

}  // namespace wrappers
