// SPDX-License-Identifier: Apache-2.0
// base/visible.hpp — text from outside, fit for a terminal and a log.
#pragma once
#include <string>
#include <string_view>

namespace base {

/// The text with everything that is not printed as itself written out: control characters, and
/// bytes that are no UTF-8, as "\n" or "\x1b"; line separators and marks that turn the direction of
/// writing as "\u202e". Applied again it changes nothing.
std::string visible(std::string_view text);

}  // namespace base
