// SPDX-License-Identifier: Apache-2.0
// base/near_match.hpp — suggestion for a misspelt word
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// Returns the candidate with the least edit distance to `word`; a swap of two neighbouring letters
/// is one edit. The distance may be at most a third of the letters of `word`, or 1 for a word of
/// fewer than six letters. Returns nullopt if every candidate has a larger distance.
std::optional<std::string_view> near_match(std::string_view word,
                                           const std::vector<std::string_view>& candidates);

/// Returns "; did you mean 'b'?" for the near match of `word`; "" if there is none.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

/// Returns the words as a list for a sentence: "a, b or c".
std::string either_of(const std::vector<std::string_view>& words);

/// Returns "expected a, b or c, found 'bb'; did you mean 'b'?".
std::string not_one_of(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace base
