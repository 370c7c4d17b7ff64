// SPDX-License-Identifier: Apache-2.0
// base/near_match.hpp — suggestion for a misspelt word
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// Returns the candidate that needs the fewest edits to become `word`; a swap of neighbours is one
/// edit. Returns nullopt if none needs at most a third of the letters (at least one edit).
std::optional<std::string_view> near_match(std::string_view word,
                                           const std::vector<std::string_view>& candidates);

/// Returns the words as a list for a sentence: "a, b or c".
std::string either_of(const std::vector<std::string_view>& words);

}  // namespace base
