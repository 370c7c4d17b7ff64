// SPDX-License-Identifier: Apache-2.0
// wrappers/prefetch.cpp — service context that reads ahead from a remote element.
#include "wrappers/prefetch.hpp"

#include <exception>
#include <string>

#include "base/errors.hpp"
#include "eventspace/record.hpp"
#include "paths/plan/element_setting.hpp"
#include "paths/plan/plan.hpp"

namespace wrappers {

using paths::OperationKind;

void Prefetch::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  switch (operation.kind) {
    case OperationKind::observe:
    case OperationKind::observe_number:
    case OperationKind::newest:
    case OperationKind::first:
    case OperationKind::last: return readers_.handle(std::move(operation), next, responder);
    default: return next.handle(std::move(operation), std::move(responder));
  }
}

void Prefetch::start() {
  const paths::Plan& plan = deployment_.plan();
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path) {
    const auto& begun = plan.paths[path];
    if (begun.threads > 0 || plan.stages[begun.stage].wrapper != wrapper_) continue;
    ENSURE(!fetching_);
    fetching_ = deployment_.services().spawn("prefetch", [this, path] { fetch(path); });
  }
}

void Prefetch::stop() {
  if (!fetching_) return;
  fetching_.cancel();
  fetching_.join();
}

void Prefetch::fetch(std::uint32_t path) {
  const paths::Stage* stage = deployment_.instance().stage(deployment_.plan().paths[path].stage);
  ENSURE(stage != nullptr);
  const paths::Next next(deployment_, *stage, nullptr);
  paths::Operation wanted;
  wanted.kind = OperationKind::newest;
  wanted.path = path;
  try {
    while (true) {
      const std::int64_t left_nanos = deployment_.runtime().now().count();
      paths::Result newest = ask(wanted, next);
      const std::size_t bytes = newest.payload.size();
      into_->move(std::move(newest.payload));
      record(wanted, left_nanos, bytes, next);
      wanted.number = newest.number + 1;
      ++wanted.sequence;
    }
  } catch (const pastset::Deleted&) {
    return;  // no thread reads a deleted element
  } catch (const std::exception& error) {
    into_->mark_error(paths::mark_of(error));
  }
}

paths::Result Prefetch::ask(paths::Operation operation, const paths::Next& next) {
  while (true) {
    const runtime::Deadline deadline = deployment_.deadline();
    try {
      return next(operation);
    } catch (const paths::TravelError&) {
      if (deployment_.runtime().now() < deadline.at) throw;
    }
  }
}

void Prefetch::record(const paths::Operation& asked, std::int64_t down_nanos, std::size_t bytes,
                      const paths::Next& next) {
  eventspace::EventRecord record;
  record.place = next.stage().id;
  record.sequence = asked.sequence;
  record.kind = static_cast<std::uint8_t>(eventspace::EventKind::prefetch);
  record.down_nanos = down_nanos;
  record.up_nanos = deployment_.runtime().now().count();
  record.bytes = eventspace::capped_bytes(bytes);
  deployment_.recorder().add(record);
}

paths::WrapperKind prefetch_kind() {
  paths::WrapperKind kind;
  kind.name = "prefetch";
  kind.help = "Begins a path: keeps the newest tuple of the far element in an element of its host.";
  kind.settings = {{"into", "element", "required", "Element of this host to move the tuple into."}};
  kind.job = paths::Job::prefetch;
  kind.fetches_into = "into";
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const std::string into = paths::read_element(reader, "into", place);
    return [into, wrapper = place.wrapper()](paths::Deployment& deployment) {
      return std::make_unique<Prefetch>(deployment, wrapper, deployment.element(into));
    };
  };
  return kind;
}

}  // namespace wrappers
