// SPDX-License-Identifier: Apache-2.0
// base/near_match.hpp — what a misspelt word probably meant.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// The candidate closest to `word` by edits (swapped neighbours are one edit), if it is close
/// enough that a person would have meant it: at most a third of the letters, at least one.
std::optional<std::string_view> near_match(std::string_view word,
                                           const std::vector<std::string_view>& candidates);

/// "a, b or c".
std::string either_of(const std::vector<std::string_view>& words);

}  // namespace base
