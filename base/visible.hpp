// SPDX-License-Identifier: Apache-2.0
// base/visible.hpp — escaping of external text for terminals and logs
#pragma once
#include <string>
#include <string_view>

namespace base {

/// Returns the text with escapes for everything that is not printable. Control characters and
/// invalid UTF-8 become "\n" or "\x1b"; line separators and marks that change the writing direction
/// become "\u202e". A second call changes nothing.
std::string visible(std::string_view text);

}  // namespace base
