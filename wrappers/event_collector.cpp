// SPDX-License-Identifier: Apache-2.0
// wrappers/event_collector.cpp — stamp, next, stamp.
#include "wrappers/event_collector.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "eventspace/record.hpp"
#include "paths/host.hpp"

namespace wrappers {
namespace {

/// What a run does to end and to be counted is no part of what it did.
bool is_recorded(paths::OperationKind kind) {
  return kind != paths::OperationKind::release && kind != paths::OperationKind::traffic;
}

std::uint32_t capped(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, eventspace::event_bytes_max));
}

eventspace::EventRecord passing_down(const paths::Operation& operation, const paths::Next& next) {
  eventspace::EventRecord record;
  record.collector = next.stage().id;
  record.slot = operation.slot;
  record.sequence = operation.sequence;
  record.down_nanos = next.host().runtime().now().count();
  record.bytes_and_flags =
      capped(operation.payload.size()) | static_cast<std::uint32_t>(operation.kind)
                                             << eventspace::event_kind_shift;
  if (operation.one_way) record.bytes_and_flags |= eventspace::event_one_way;
  return record;
}

void passed_up(eventspace::EventRecord& record, const paths::Next& next) {
  record.up_nanos = next.host().runtime().now().count();
  next.host().events().add(record);
}

}  // namespace

paths::Result EventCollector::operate(paths::Operation operation, paths::Next next) {
  if (!is_recorded(operation.kind)) return next(std::move(operation));
  eventspace::EventRecord record = passing_down(operation, next);
  try {
    paths::Result result = next(std::move(operation));
    // What was read has its size on the way up.
    const std::uint32_t down_bytes = record.bytes_and_flags & eventspace::event_bytes_max;
    record.bytes_and_flags += std::max(capped(result.payload.size()), down_bytes) - down_bytes;
    passed_up(record, next);
    return result;
  } catch (...) {
    record.bytes_and_flags |= eventspace::event_failed;
    passed_up(record, next);
    throw;
  }
}

paths::WrapperKind event_collector_kind() {
  paths::WrapperKind kind;
  kind.name = "event_collector";
  kind.help = "Records when each operation passed down and its result passed up.";
  kind.read = [](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
    return [](paths::Host&) { return std::make_unique<EventCollector>(); };
  };
  return kind;
}

}  // namespace wrappers
