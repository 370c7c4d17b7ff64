// SPDX-License-Identifier: Apache-2.0
// paths/plan/names.cpp — rules for names, and suggestions for wrong names.
#include "paths/plan/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/near_match.hpp"

namespace paths {
namespace {

bool is_name(std::string_view text) {
  const auto is_word = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
  };
  return !text.empty() && is_word(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char letter) {
           return is_word(letter) || letter == '-' || letter == '.';
         });
}

}  // namespace

std::string not_named(std::string_view expected, const base::Settings& found,
                      const std::vector<std::string_view>& names) {
  std::string hint = base::did_you_mean(found.text(), names);
  if (hint.empty() && !names.empty() && names.size() <= 12)
    hint = fmt::format("; there {} {}", names.size() == 1 ? "is" : "are", base::either_of(names));
  return fmt::format("expected {}, found {}{}", expected, found.describe(), hint);
}

bool check_name(const base::Settings& name, std::string_view what, base::Mistakes& mistakes) {
  constexpr std::size_t name_bytes_max = 200;
  if (is_name(name.text()) && name.text().size() <= name_bytes_max) return true;
  mistakes.add(name.position(), fmt::format("expected a name for {}: letters, digits, '_', and "
                                            "inside '-' and '.', found {}",
                                            what, name.describe()));
  return false;
}

std::string also_at(const base::Position& first) {
  return first.line > 0 ? fmt::format(" (the first is at {})", first.text()) : "";
}

}  // namespace paths
