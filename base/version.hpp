// SPDX-License-Identifier: Apache-2.0
// base/version.hpp — the version of PATHS, which the build reads from here
#pragma once
#include <string_view>

namespace base {

inline constexpr std::string_view version = "0.1.0";

}  // namespace base
