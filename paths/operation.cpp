// SPDX-License-Identifier: Apache-2.0
// paths/operation.cpp — names of operations, and errors for wrong reads of results.
#include "paths/operation.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/usage_error.hpp"
#include "paths/path_values.hpp"

namespace paths {
namespace {

/// Returns the prefix of an error text, such as "path sum: " for a result of the path `sum`; "" if
/// no path has returned the result.
std::string origin_of(const PathValues* values) {
  return values == nullptr ? "" : fmt::format("path {}: ", values->path);
}

}  // namespace

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

std::uint64_t Result::contributors() const {
  return path_values == nullptr ? 0 : path_values->contributors;
}

void Result::check_read(base::ValueType wanted, bool may_be_partial) const {
  if (payload.is_partial() && !may_be_partial)
    throw base::UsageError(fmt::format(
        "{}this value covers {} of {} contributions; decide by `condition`, or call `partial<T>()`",
        origin_of(path_values), contributions, contributors()));
  const bool has_type = base::is_one_scalar(payload.type()) && base::is_one_scalar(wanted);
  if (!has_type || payload.type() == wanted || path_values == nullptr) return;
  const auto& moved = path_values->templates.moved;
  throw base::UsageError(
      fmt::format("{}the result was read as {}, but template \"{}\" has values of type {}",
                  origin_of(path_values), base::type_name(wanted), moved ? moved->text() : "",
                  base::type_name(payload.type())));
}

void Result::refuse_size(std::size_t bytes) const {
  throw base::UsageError(fmt::format("{}a result of {} bytes was read as {} of {} bytes{}",
                                     origin_of(path_values), payload.size(),
                                     payload.size() % bytes == 0 ? "one value" : "values", bytes,
                                     payload.empty() ? "; this operation has no value" : ""));
}

Result unchecked_result(const OperationHead& head, base::Payload payload) {
  Result result;
  result.sequence = head.sequence;
  result.contributions = head.contributions;
  result.origin.kind = Origin::Kind::local;
  result.payload = std::move(payload);
  return result;
}

}  // namespace paths
