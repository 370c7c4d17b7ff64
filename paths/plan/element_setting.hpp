// SPDX-License-Identifier: Apache-2.0
// paths/plan/element_setting.hpp — settings of wrappers that name elements of their host.
#pragma once
#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "pastset/template.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// Reads the required setting `key`, which names an element of the wrapper's own host. If this host
/// has no such element, reports a mistake. The message names the host that has the element. If no
/// host has the element, the message suggests the most similar name.
std::string read_element(base::MapReader& reader, std::string_view key, const WrapperPlace& place);
/// Checks that `name`, the value of the setting `key`, is an element of the wrapper's own host with
/// the template `expected`. Reports a mistake to the reader otherwise.
void check_element(base::MapReader& reader, std::string_view key, const std::string& name,
                   const WrapperPlace& place, const pastset::Template& expected);

}  // namespace paths
