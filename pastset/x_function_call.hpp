// SPDX-License-Identifier: Apache-2.0
// pastset/x_function_call.hpp — calls of X-functions, private to elements
#pragma once
#include <string>

#include "pastset/element.hpp"

namespace pastset {

/// Throws UsageError if the caller is inside an X-function.
void refuse_x_function(const std::string& element);

/// to_store() applies the function `in` to a tuple that is moved, from_stored() the function `out`
/// to a stored tuple. Both throw TemplateMismatch if the argument of `in` or the result of `out`
/// does not match the template.
base::Payload to_store(const Element& element, const XFunction& x_function,
                       const base::Payload& payload);
base::Payload from_stored(const Element& element, const XFunction& x_function,
                          base::Payload stored);

}  // namespace pastset
