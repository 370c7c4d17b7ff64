// SPDX-License-Identifier: Apache-2.0
// base/near_match.hpp — suggestion for a misspelt word
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// Returns the candidate with the fewest edits from `word`, if there are at most a third of its
/// letters, or one. A swap of neighbours is one edit.
std::optional<std::string_view> near_match(std::string_view word,
                                           const std::vector<std::string_view>& candidates);

/// Returns "a, b or c".
std::string either_of(const std::vector<std::string_view>& words);

}  // namespace base
