// SPDX-License-Identifier: Apache-2.0
// pastset/x_function_call.hpp — the time during which a context runs an X-function.
#pragma once
#include <string>

#include "pastset/element.hpp"

namespace pastset {

/// Private to elements. An X-function runs in the context that moves or observes, and mostly under
/// the element's mutex.
class XFunctionCall {
 public:
  XFunctionCall();
  ~XFunctionCall();
  XFunctionCall(const XFunctionCall&) = delete;
  XFunctionCall& operator=(const XFunctionCall&) = delete;

 private:
  const void* before_;
};

/// Throws UsageError inside one.
void refuse_x_function(const std::string& element);

/// What each kind of element does with a tuple that is moved in, and with one that is read.
base::Payload to_store(const Element& element, const XFunction& x_function,
                       const base::Payload& payload);
base::Payload from_stored(const Element& element, const XFunction& x_function,
                          base::Payload stored);

}  // namespace pastset
