// SPDX-License-Identifier: Apache-2.0
// base/say.hpp — messages to standard error
#pragma once
#include <string_view>

namespace base {

/// Writes to standard error if possible. Never throws. Thread-safe.
void say(std::string_view text) noexcept;

}  // namespace base
