// SPDX-License-Identifier: Apache-2.0
// groups/call_preparer.cpp — checks of a call against its schedule
#include "groups/call_preparer.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/usage_error.hpp"
#include "collectives/cost/admission.hpp"
#include "paths/host/host.hpp"

namespace groups {

std::shared_ptr<const PreparedCall> CallPreparer::prepare(const Call& call) {
  std::shared_ptr<const PreparedCall> prepared;
  if (PreparedCallCache::keep(call)) {
    const runtime::Lock lock(mutex_);
    prepared = cache_.of(call, view_.layout(), machines_);
  } else {
    prepared = std::make_shared<const PreparedCall>(call, view_.layout(), machines_);
  }
  if (!is_selected(call.algorithm) || view_.plan().decisions) check_algorithm(*prepared);
  if (call.window > 0 || call.ports.receiving > 0) check_window(call, *prepared);
  return prepared;
}

/// Throws: UsageError if hosts would deadlock, because the schedule needs a larger limit of
///         unfinished steps. Does not check the limit if messages can be sent by credit, because
///         the sizes of the messages then decide whether a small limit suffices.
void CallPreparer::check_window(const Call& call, const PreparedCall& prepared) const {
  const auto& choice = selection_of(prepared);
  const pricing::Ports& ports = ports_of(call, *choice);
  if (ports.receiving == 0 && view_.deployment().host().plan().lanes.inbox_bytes > 0) return;
  const std::size_t window = pricing::window_of(call.window, view_.hosts().size());
  const auto least = selector_for(call).least_window(*choice, ports, window);
  if (least == window) return;
  const std::string expected =
      least ? fmt::format("a window of {} unfinished steps or more, found {}", *least, window)
            : fmt::format(
                  "a schedule that ends with so few ports ({} receiving), found one that "
                  "ends with no window",
                  ports.receiving);
  throw base::UsageError(fmt::format("group {}: {} by {}: expected {}", view_.name(),
                                     name_of(call.collective), choice->text(), expected));
}

/// Throws: UsageError if the call's algorithm does not support the collective that the schedule
///         performs between hosts.
void CallPreparer::check_algorithm(const PreparedCall& prepared) const {
  const collectives::Collective between = prepared.question.collective;
  try {
    selection_of(prepared);
  } catch (const base::UsageError& error) {
    if (between == prepared.call.collective) throw;
    throw base::UsageError(fmt::format("group {}: {} of these members is {} between hosts; {}",
                                       view_.name(), name_of(prepared.call.collective),
                                       name_of(between), error.mistake()));
  }
}

const std::shared_ptr<const Selection>& CallPreparer::selection_of(
    const PreparedCall& prepared) const {
  {
    const runtime::Lock lock(mutex_);
    if (prepared.choice != nullptr) return prepared.choice;
  }
  auto choice = selector_for(prepared.call).answer(prepared.question);
  const runtime::Lock lock(mutex_);
  if (prepared.choice == nullptr) prepared.choice = std::move(choice);
  return prepared.choice;
}

}  // namespace groups
