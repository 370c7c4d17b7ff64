// SPDX-License-Identifier: Apache-2.0
// paths/host/element_operation.hpp — operations carried out on the element at the end of a path.
#pragma once
#include <string>

#include "base/settings.hpp"
#include "pastset/element.hpp"
#include "paths/operation.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Does to `element` what `operation` says; any of its kinds; those that do not concern it do
/// nothing. Blocks as the element does. The result's number is the tuple's or the answer, its
/// payload the tuple: of a move the moved one, because a reduced value goes back up the way it
/// came. Throws what the element throws.
Result operate_on(pastset::Element& element, const Operation& operation,
                  runtime::Deadline deadline);

/// The required setting `key` that names an element of the wrapper's own host. A mistake names
/// the host an element is really on, or the closest name.
std::string read_element(base::MapReader& reader, std::string_view key, const WrapperPlace& place);
/// Whether `name`, found in the setting `key`, is an element of the wrapper's own host with that
/// template; a mistake says what is wrong.
void check_element(base::MapReader& reader, std::string_view key, const std::string& name,
                   const WrapperPlace& place, const pastset::Template& expected);

}  // namespace paths
