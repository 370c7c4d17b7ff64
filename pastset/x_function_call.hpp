// SPDX-License-Identifier: Apache-2.0
// pastset/x_function_call.hpp — the scope in which a context runs an X-function
#pragma once
#include <string>

#include "pastset/element.hpp"

namespace pastset {

/// Marks the calling context as running an X-function while it exists. X-functions run in the
/// context that moves or observes, usually under the element's mutex. Private to elements.
class XFunctionCall {
 public:
  XFunctionCall();
  ~XFunctionCall();
  XFunctionCall(const XFunctionCall&) = delete;
  XFunctionCall& operator=(const XFunctionCall&) = delete;

 private:
  const void* before_;
};

/// Throws UsageError if the caller is inside an X-function.
void refuse_x_function(const std::string& element);

/// Applies the `in` function to a moved tuple, and the `out` function to a stored one. Both check
/// the template.
base::Payload to_store(const Element& element, const XFunction& x_function,
                       const base::Payload& payload);
base::Payload from_stored(const Element& element, const XFunction& x_function,
                          base::Payload stored);

}  // namespace pastset
