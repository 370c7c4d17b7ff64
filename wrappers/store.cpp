// SPDX-License-Identifier: Apache-2.0
// wrappers/store.cpp — operations on the element at the end of a path, and error marks.
#include "wrappers/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

#include "pastset/errors.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/elements/element_operation.hpp"
#include "paths/plan/element_setting.hpp"

namespace wrappers {
namespace {

/// Returns the part of an error text that names the other hosts with a path of the same graph as
/// `path`. Returns "" if there is no such host, or if there are too many to list.
std::string senders(const paths::Plan& plan, std::uint32_t path) {
  constexpr std::size_t shown_max = 3;
  std::set<std::string> names;
  for (const auto& other : plan.paths)
    if (other.graph_number == plan.paths[path].graph_number && other.host != plan.paths[path].host)
      names.insert(plan.hosts[other.host].name);
  if (names.empty() || names.size() > shown_max) return "";
  return fmt::format("; they come from host {}", fmt::join(names, ", "));
}

}  // namespace

Store::Store(std::shared_ptr<pastset::Element> element, StoreMarks marks)
    : element_(std::move(element)), marks_(marks), waiting_(*element_, &senders) {}

void Store::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  if (leaves_mark(operation, next.deployment().plan())) return responder.reply(paths::Result{});
  waiting_.handle(std::move(operation), next, responder);
}

/// Marks the element with an error if the operation requires it. Returns whether the element was
/// marked. If so, the operation must not be carried out.
bool Store::leaves_mark(const paths::Operation& operation, const paths::Plan& plan) const {
  const bool is_end =
      operation.kind == paths::OperationKind::release && marks_ == StoreMarks::failures_and_end;
  const bool is_failure = operation.failure && marks_ != StoreMarks::nothing &&
                          operation.kind != paths::OperationKind::withdraw;
  if (!is_end && !is_failure) return false;
  if (operation.failure)
    element_->mark_error(paths::mark_of(*operation.failure));
  else
    element_->mark_error(fmt::format("path {}: {} has ended", plan.paths[operation.path].graph,
                                     plan.beginner(operation.path, operation.thread)));
  return true;
}

paths::WrapperKind store_kind() {
  paths::WrapperKind kind;
  kind.name = "store";
  kind.help = "Ends a path in an element and carries out every operation on it.";
  kind.settings = {
      {"element", "element", "required", "Element of this host in which the path ends."},
      {"marks", "true, failures or false", "false",
       "true: a failed move and the end of the path leave an error mark; failures: the end only if "
       "it is a failure. For paths that a push begins."},
  };
  kind.job = paths::Job::store;
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const std::string element = paths::read_element(reader, "element", place);
    const std::string word = reader.choice("marks", {"false", "failures", "true"}, "false");
    const StoreMarks marks = word == "true"       ? StoreMarks::failures_and_end
                             : word == "failures" ? StoreMarks::failures
                                                  : StoreMarks::nothing;
    return [element, marks](paths::Deployment& deployment) {
      return std::make_unique<Store>(deployment.element(element), marks);
    };
  };
  return kind;
}

}  // namespace wrappers
