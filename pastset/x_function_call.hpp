// SPDX-License-Identifier: Apache-2.0
// pastset/x_function_call.hpp — calls of X-functions, private to elements
#pragma once
#include <string>

#include "pastset/element.hpp"

namespace pastset {

/// Throws UsageError if the caller is inside an X-function.
void refuse_x_function(const std::string& element);

/// Apply the `in` function to a moved tuple, or the `out` function to a stored one. Both check the
/// function's tuple against the template.
base::Payload to_store(const Element& element, const XFunction& x_function,
                       const base::Payload& payload);
base::Payload from_stored(const Element& element, const XFunction& x_function,
                          base::Payload stored);

}  // namespace pastset
