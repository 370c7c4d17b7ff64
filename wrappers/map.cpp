// SPDX-License-Identifier: Apache-2.0
// wrappers/map.cpp — mapping of a shared element after its host has started.
#include "wrappers/map.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/near_match.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/elements/element_operation.hpp"
#include "paths/host/elements/shared_elements.hpp"
#include "paths/one_machine.hpp"

namespace wrappers {
namespace {

std::string read_shared_element(base::MapReader& reader, const paths::WrapperPlace& place) {
  const std::string name = reader.required_word("element", "the name of a shared element");
  if (name.empty()) return name;  // the reader has reported the mistake
  const paths::Plan& plan = place.plan();
  const auto index = plan.element_named(name);
  const auto& here = plan.hosts[place.host()];
  if (!index) {
    std::vector<std::string_view> shared;
    for (const auto& one : plan.elements)
      if (one.shared && one.host != place.host()) shared.push_back(one.name);
    reader.mistake("element", fmt::format("expected a shared element of another host, found '{}'{}",
                                          name, base::did_you_mean(name, shared)));
    return name;
  }
  const auto& element = plan.elements[*index];
  const auto& there = plan.hosts[element.host];
  if (element.host == place.host())
    reader.mistake("element",
                   fmt::format("'{}' is on this host, {}, which need not map it", name, here.name));
  else if (!element.shared)
    reader.mistake("element",
                   fmt::format("'{}' cannot be mapped: expected one with shared: true", name));
  else if (!paths::are_of_one_machine(here.address, there.address))
    reader.mistake("element",
                   fmt::format("'{}' is on host {}, whose address, {}, is of another machine than "
                               "that of {}, {}",
                               name, there.name, there.address, here.name, here.address));
  return name;
}

}  // namespace

paths::Result Map::operate(paths::Operation operation, paths::Next next) {
  if (paths::is_housekeeping(operation.kind) || operation.failure)
    return next(std::move(operation));
  const std::shared_ptr<pastset::Element> mapped = element(operation, next);
  if (mapped == nullptr) return next(std::move(operation));
  next.taken();
  return paths::operate_on(*mapped, operation, operation.deadline());
}

pastset::Element* Map::element_here() {
  const runtime::Lock lock(mutex_);
  return element_ ? element_->get() : nullptr;
}

/// Returns the mapped element; nullptr if operations must take the path. The first call sends an
/// operation of the kind traffic along the path. The reply proves that the other host has created
/// the element.
std::shared_ptr<pastset::Element> Map::element(const paths::Operation& operation,
                                               const paths::Next& next) {
  paths::SharedElements& shared = next.deployment().shared_elements();
  if (!shared.are_shared()) return nullptr;
  {
    const runtime::Lock lock(mutex_);
    if (element_) return *element_;
  }
  const paths::Plan& plan = next.deployment().plan();
  paths::Operation question;
  question.kind = paths::OperationKind::traffic;
  question.path = operation.path;
  question.thread = operation.thread;
  question.slot = operation.slot;
  question.sequence = operation.sequence;
  question.number = plan.paths[operation.path].graph_number;
  next(std::move(question));
  std::shared_ptr<pastset::Element> found =
      shared.map(plan.elements[*plan.element_named(name_of_element_)]);
  const runtime::Lock lock(mutex_);
  if (!element_) element_ = std::move(found);
  return *element_;
}

paths::WrapperKind map_kind() {
  paths::WrapperKind kind;
  kind.name = "map";
  kind.help =
      "Maps the shared element at the end of the path, which is on another host of this machine: "
      "operations are carried out here, without frames.";
  kind.settings = {
      {"element", "element of another host", "required", "The element that the path leads to."}};
  kind.maps = true;
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const std::string element = read_shared_element(reader, place);
    return [element](paths::Deployment&) { return std::make_unique<Map>(element); };
  };
  return kind;
}

}  // namespace wrappers
