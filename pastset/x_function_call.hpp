// SPDX-License-Identifier: Apache-2.0
// pastset/x_function_call.hpp — calls of X-functions, private to elements
#pragma once
#include <string>

#include "pastset/element.hpp"

namespace pastset {

/// Throws UsageError if the caller is inside an X-function.
void refuse_x_function(const std::string& element);

/// Applies the function `in` to `payload`, a tuple that is moved. Throws TemplateMismatch if
/// `payload` does not match the template. Without a function `out`, the result must match, too.
base::Payload to_store(const Element& element, const XFunction& x_function,
                       const base::Payload& payload);
/// Applies the function `out` to `stored`, a stored tuple. Throws TemplateMismatch if the result
/// does not match the template.
base::Payload from_stored(const Element& element, const XFunction& x_function,
                          base::Payload stored);

}  // namespace pastset
