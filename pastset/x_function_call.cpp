// SPDX-License-Identifier: Apache-2.0
// pastset/x_function_call.cpp — detection of calls inside X-functions, and checks of their results
#include "pastset/x_function_call.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/usage_error.hpp"
#include "runtime/runtime.hpp"

namespace pastset {
namespace {

thread_local const void* in_x_function = nullptr;

/// While this object exists, the calling context counts as running an X-function. X-functions run
/// in the context that moves or observes, usually under the element's mutex.
struct XFunctionCall {
  const void* const before = std::exchange(in_x_function, runtime::calling_context());
  ~XFunctionCall() { in_x_function = before; }
};

void ensure_matches(const Element& element, const base::Payload& payload, std::string_view whose) {
  const std::string mismatch = element.tuple_template().mismatch(payload);
  if (mismatch.empty()) return;
  throw TemplateMismatch(
      fmt::format("element '{}': {} does not match: {}", element.name(), whose, mismatch));
}

}  // namespace

bool is_inside_an_x_function() {
  return in_x_function != nullptr && in_x_function == runtime::calling_context();
}

void refuse_x_function(const std::string& element) {
  if (is_inside_an_x_function())
    throw base::UsageError(fmt::format("element '{}' was called by an X-function", element));
}

base::Payload to_store(const Element& element, const XFunction& x_function,
                       const base::Payload& payload) {
  ensure_matches(element, payload, "the tuple");
  if (!x_function.in) return payload;
  base::Payload stored;
  {
    const XFunctionCall call;
    stored = x_function.in(payload);
  }
  if (!x_function.out) ensure_matches(element, stored, "what its X-function stores");
  return stored;
}

base::Payload from_stored(const Element& element, const XFunction& x_function,
                          base::Payload stored) {
  if (x_function.out) {
    const XFunctionCall call;
    stored = x_function.out(stored);
    ensure_matches(element, stored, "what its X-function returns");
  }
  stored.set_type(element.tuple_template().value_type());
  return stored;
}

}  // namespace pastset
