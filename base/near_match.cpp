// SPDX-License-Identifier: Apache-2.0
// base/near_match.cpp — edit distance between words
#include "base/near_match.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace base {
namespace {

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

/// Returns the number of insertions, removals, replacements and swaps that turn `a` into `b`.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(now);
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
  }
  return now[b.size()];
}

}  // namespace

std::optional<std::string_view> near_match(std::string_view word,
                                           const std::vector<std::string_view>& candidates) {
  const std::string lower = lower_case(word);
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  std::size_t closest = limit + 1;
  std::optional<std::string_view> match;
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) > limit) continue;
    const std::size_t edits = edits_between(lower, lower_case(candidate));
    // If every letter differs, as in "x" and "y", the words have nothing in common, so this is no
    // match.
    if (edits >= closest || edits >= longer) continue;
    closest = edits;
    match = candidate;
  }
  return match;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const auto near = near_match(word, candidates);
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

std::string either_of(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string not_one_of(std::string_view word, const std::vector<std::string_view>& known) {
  return fmt::format("expected {}, found '{}'{}", either_of(known), word,
                     did_you_mean(word, known));
}

}  // namespace base
