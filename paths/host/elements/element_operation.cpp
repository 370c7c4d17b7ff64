// SPDX-License-Identifier: Apache-2.0
// paths/host/elements/element_operation.cpp — translation of operations into calls of an element.
#include "paths/host/elements/element_operation.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "pastset/errors.hpp"
#include "pastset/template.hpp"

namespace paths {
namespace {

void check_template(const pastset::Element& element, const base::Payload& payload) {
  const auto* text = reinterpret_cast<const char*>(payload.bytes().data());
  const std::string_view given(text, payload.size());
  const std::string& wanted = element.tuple_template().text();
  std::string wrong;
  const auto parsed = pastset::Template::parse(given, &wrong);
  if (parsed && *parsed == element.tuple_template()) return;
  throw pastset::TemplateMismatch(fmt::format("element '{}' has template \"{}\", not \"{}\"{}{}",
                                              element.name(), wanted, given,
                                              wrong.empty() ? "" : ": ", wrong));
}

Result answer(std::uint64_t number) {
  Result result;
  result.number = number;
  return result;
}

Result answer(pastset::Stored stored) {
  Result result = answer(stored.number);
  result.payload = std::move(stored.payload);
  return result;
}

Result move(pastset::Element& element, const Operation& operation, runtime::Deadline deadline) {
  Result result = answer(element.move(operation.payload, deadline));
  result.contributions = operation.contributions;
  result.payload = operation.payload;
  return result;
}

Result carry_out(pastset::Element& element, const Operation& operation,
                 runtime::Deadline deadline) {
  switch (operation.kind) {
    case OperationKind::enter: check_template(element, operation.payload); break;
    case OperationKind::move: return move(element, operation, deadline);
    case OperationKind::observe: return answer(element.observe(deadline));
    case OperationKind::observe_number: return answer(element.observe(operation.number, deadline));
    case OperationKind::newest: return answer(element.newest(operation.number, deadline));
    case OperationKind::first: return answer(element.first());
    case OperationKind::last: return answer(element.last());
    case OperationKind::delta: return answer(element.delta());
    case OperationKind::set_delta: element.set_delta(operation.number); break;
    case OperationKind::axe: element.axe(operation.number); break;
    case OperationKind::delete_element: element.delete_element(); break;
    case OperationKind::release:
    case OperationKind::withdraw:
    case OperationKind::traffic:
    case OperationKind::clock: break;  // no effect: such operations do not concern an element
  }
  return {};
}

}  // namespace

Result operate_on(pastset::Element& element, const Operation& operation,
                  runtime::Deadline deadline) {
  Result result = carry_out(element, operation, deadline);
  result.sequence = operation.sequence;
  return result;
}

bool needs_context_on(const pastset::Element& element) {
  const pastset::ElementTraits traits = element.traits();
  return traits.runs_x_functions || traits.may_be_held;
}

OperationSet nonblocking_on(const pastset::Element& element) {
  const pastset::ElementTraits traits = element.traits();
  if (traits.may_be_held)
    return OperationSet::of(
        {OperationKind::release, OperationKind::withdraw, OperationKind::traffic});
  const OperationSet always = OperationSet::of(
      {OperationKind::enter, OperationKind::first, OperationKind::last, OperationKind::delta,
       OperationKind::set_delta, OperationKind::axe, OperationKind::delete_element,
       OperationKind::release, OperationKind::withdraw, OperationKind::traffic});
  if (!traits.never_keeps_movers) return always;
  return always | OperationSet::of({OperationKind::move});
}

}  // namespace paths
