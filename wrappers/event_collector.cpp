// SPDX-License-Identifier: Apache-2.0
// wrappers/event_collector.cpp — time stamps on the way down and on the way up.
#include "wrappers/event_collector.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "eventspace/record.hpp"
#include "paths/host/deployment.hpp"
#include "paths/plan/plan.hpp"

namespace wrappers {
namespace {

bool is_recorded(const paths::Operation& operation, const paths::Next& next) {
  return next.deployment().recorder().is_on() && !paths::is_housekeeping(operation.kind);
}

eventspace::EventRecord passing_down(const paths::Operation& operation, const paths::Next& next) {
  eventspace::EventRecord record;
  record.place = next.stage().id;
  record.slot = operation.slot;
  record.sequence = operation.sequence;
  record.kind = static_cast<std::uint8_t>(operation.kind);
  record.bytes = eventspace::capped_bytes(operation.payload.size());
  if (operation.one_way) record.flags |= eventspace::event_one_way;
  if (next.deployment().plan().paths[operation.path].host != next.deployment().index())
    record.flags |= eventspace::event_remote;
  record.down_nanos = next.deployment().runtime().now().count();
  return record;
}

void add(eventspace::EventRecord& record, const paths::Next& next) {
  record.up_nanos = next.deployment().runtime().now().count();
  next.deployment().recorder().add(record);
}

void passed_up(eventspace::EventRecord& record, const paths::Result& result,
               const paths::Next& next) {
  // The size and the number of a tuple that is read are known only on the way up.
  record.bytes =
      std::max<std::uint32_t>(record.bytes, eventspace::capped_bytes(result.payload.size()));
  if (eventspace::is_read_operation(record.kind)) {
    record.sequence = result.number;
    record.flags |= eventspace::event_numbered;
  }
  if (result.last_arriver) record.flags |= eventspace::event_last_arriver;
  if (result.proved) record.flags |= eventspace::event_proved;
  add(record, next);
}

void failed(eventspace::EventRecord& record, const paths::Next& next) {
  record.flags |= eventspace::event_failed;
  add(record, next);
}

}  // namespace

void EventCollector::handle(paths::Operation&& operation, paths::Next next,
                            paths::Responder& responder) {
  if (is_recorded(operation, next))
    responder.on_reply([record = passing_down(operation, next), rest = next.detached()](
                           paths::Responder up, paths::Outcome&& outcome) mutable {
      if (outcome.failure)
        failed(record, rest);
      else
        passed_up(record, outcome.result, rest);
      up.reply(std::move(outcome));
    });
  next.handle(std::move(operation), std::move(responder));
}

paths::WrapperKind event_collector_kind() {
  paths::WrapperKind kind;
  kind.name = "event_collector";
  kind.help = "Records when each operation passed down and its result passed up.";
  kind.job = paths::Job::collector;
  kind.read = [](base::MapReader&, const paths::WrapperPlace&) -> paths::MakeWrapper {
    return [](paths::Deployment&) { return std::make_unique<EventCollector>(); };
  };
  return kind;
}

}  // namespace wrappers
