// SPDX-License-Identifier: Apache-2.0
// paths/plan/element_setting.hpp — settings of wrappers that name elements of their host.
#pragma once
#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "pastset/template.hpp"
#include "paths/wrapper_kind.hpp"

namespace paths {

/// The required setting `key` that names an element of the wrapper's own host. A mistake names
/// the host an element is really on, or the closest name.
std::string read_element(base::MapReader& reader, std::string_view key, const WrapperPlace& place);
/// Whether `name`, found in the setting `key`, is an element of the wrapper's own host with that
/// template; a mistake says what is wrong.
void check_element(base::MapReader& reader, std::string_view key, const std::string& name,
                   const WrapperPlace& place, const pastset::Template& expected);

}  // namespace paths
