// SPDX-License-Identifier: Apache-2.0
// paths/operation.cpp — the names of operations.
#include "paths/operation.hpp"

namespace paths {

std::string_view operation_name(OperationKind kind) {
  switch (kind) {
    case OperationKind::enter: return "enter";
    case OperationKind::move: return "move";
    case OperationKind::observe: return "observe";
    case OperationKind::observe_number: return "observe_number";
    case OperationKind::newest: return "newest";
    case OperationKind::first: return "first";
    case OperationKind::last: return "last";
    case OperationKind::delta: return "delta";
    case OperationKind::set_delta: return "set_delta";
    case OperationKind::axe: return "axe";
    case OperationKind::delete_element: return "delete_element";
    case OperationKind::release: return "release";
    case OperationKind::traffic: return "traffic";
    case OperationKind::withdraw: return "withdraw";
    case OperationKind::clock: break;
  }
  return "clock";
}

std::string_view origin_name(Origin::Kind kind) {
  switch (kind) {
    case Origin::Kind::joined: return "joined";
    case Origin::Kind::local: return "local";
    case Origin::Kind::cached: return "cached";
    case Origin::Kind::waited: break;
  }
  return "waited";
}

}  // namespace paths
