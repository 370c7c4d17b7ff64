// SPDX-License-Identifier: Apache-2.0
// base/say.hpp — what a program says beside its output.
#pragma once
#include <string_view>

namespace base {

/// Writes to standard error, if that can be written. Never throws. Any thread.
void say(std::string_view text) noexcept;

}  // namespace base
