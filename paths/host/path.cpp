// SPDX-License-Identifier: Apache-2.0
// paths/host/path.cpp — functions by which a thread uses its path.
#include "paths/host/path.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/near_match.hpp"
#include "base/usage_error.hpp"
#include "paths/host/deployment.hpp"
#include "paths/plan/names.hpp"

namespace paths {
namespace {

void go_one_way(PathOperations& operations, Operation operation) {
  operation.one_way = true;
  operations.run(std::move(operation));
}

pastset::Stored read_tuple(PathOperations& operations, OperationKind kind, std::uint64_t number) {
  Result result = operations.operate(kind, number, {});
  result.payload.set_type(operations.values().read_type);
  return {result.number, std::move(result.payload)};
}

}  // namespace

/// Ignores errors of the element, because a later move into the element reports these errors.
base::Buffer Path::buffer(std::size_t bytes) {
  const Owner::Use used = operations_.use("buffer");
  for (const Stage* stage = &operations_.first_stage();
       stage != nullptr && !stage->wrapper->joins(); stage = stage->below) {
    pastset::Element* const element = stage->wrapper->element_here();
    if (element == nullptr) continue;
    try {
      return element->buffer(bytes);
    } catch (const pastset::ElementError&) {
      break;
    }
  }
  return base::Buffer(bytes);
}

Result Path::move(base::Payload payload) {
  const Owner::Use used = operations_.use("move");
  operations_.check_moved("move", payload);
  Result result = operations_.run(operations_.next(OperationKind::move, 0, std::move(payload)));
  describe(result, operations_.values());
  return result;
}

Result Path::move(base::Payload payload, std::span<std::byte> into) {
  Result result = move(std::move(payload));
  if (!result.is_complete())
    throw base::UsageError(
        fmt::format("path {}: memory for a result that covers {} of {} contributions; decide by "
                    "`condition`, or move without memory and call `partial<T>()`",
                    graph(), result.contributions, result.contributors()));
  const base::Payload came = std::exchange(result.payload, {});
  if (came.empty()) return result;
  if (came.size() != into.size())
    throw base::UsageError(fmt::format("path {}: a result of {} bytes for memory of {} bytes",
                                       graph(), came.size(), into.size()));
  std::memcpy(into.data(), came.bytes().data(), came.size());
  return result;
}

Started Path::start(base::Payload payload) {
  const Owner::Use used = operations_.use("start");
  operations_.check_moved("start", payload);
  return operations_.begin(operations_.next(OperationKind::move, 0, std::move(payload)),
                           operations_.deployment().recorder().is_on());
}

void Path::push(base::Payload payload) {
  const Owner::Use used = operations_.use("push");
  operations_.check_moved("push", payload);
  go_one_way(operations_, operations_.next(OperationKind::move, 0, std::move(payload)));
}

void Path::send(base::Payload payload) {
  const Owner::Use used = operations_.use("send");
  operations_.check_moved("send", payload);
  Operation operation = operations_.next(OperationKind::move, 0, std::move(payload));
  operation.kept = true;
  go_one_way(operations_, std::move(operation));
}

void Path::enter(const pastset::Template& tuple_template) {
  const std::string text = tuple_template.text();
  operations_.operate(OperationKind::enter, 0,
                      base::Payload::copy_of(std::as_bytes(std::span(text.data(), text.size()))));
}

pastset::Stored Path::observe() { return read_tuple(operations_, OperationKind::observe, 0); }
pastset::Stored Path::observe(std::uint64_t number) {
  return read_tuple(operations_, OperationKind::observe_number, number);
}
pastset::Stored Path::newest(std::uint64_t from) {
  return read_tuple(operations_, OperationKind::newest, from);
}

std::uint64_t Path::first() { return operations_.operate(OperationKind::first, 0, {}).number; }
std::uint64_t Path::last() { return operations_.operate(OperationKind::last, 0, {}).number; }
std::uint64_t Path::delta() { return operations_.operate(OperationKind::delta, 0, {}).number; }
void Path::set_delta(std::uint64_t delta) {
  operations_.operate(OperationKind::set_delta, delta, {});
}
void Path::axe(std::uint64_t number) { operations_.operate(OperationKind::axe, number, {}); }
void Path::delete_element() { operations_.operate(OperationKind::delete_element, 0, {}); }

std::vector<HostTraffic> Path::traffic(std::string_view graph) {
  const Owner::Use used = operations_.use("traffic");
  Deployment& deployment = operations_.deployment();
  const Plan& plan = deployment.plan();
  const auto number = plan.graph_named(graph);
  if (!number)
    throw base::UsageError(fmt::format("path {}: traffic of '{}', which is no graph of the plan{}",
                                       this->graph(), graph,
                                       base::did_you_mean(graph, names_of(plan.graphs))));
  Operation asked = operations_.next(OperationKind::traffic, *number, {});
  Result answer = run_stage(deployment, operations_.first_stage(), asked);
  deployment.traffic().add_entry(asked, answer);
  std::vector<HostTraffic> hosts(answer.payload.size() / sizeof(HostTraffic));
  std::memcpy(hosts.data(), answer.payload.bytes().data(), hosts.size() * sizeof(HostTraffic));
  for (const HostTraffic& one : hosts) {
    if (one.host < plan.hosts.size()) continue;
    throw TravelError(deployment.name(), this->graph(), "",
                      fmt::format("a wrapper on the path counted traffic of host number {} of {}",
                                  one.host, plan.hosts.size()));
  }
  return hosts;
}

}  // namespace paths
