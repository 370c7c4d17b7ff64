// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/visible_text.hpp — terminal lines, safe for names from a trace.
#pragma once
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/visible.hpp"

namespace eventspace {

/// Returns text as `base::visible` shows it, and other values unchanged.
template <typename Value>
auto shown(const Value& value) {
  if constexpr (std::is_convertible_v<const Value&, std::string_view>)
    return base::visible(value);
  else
    return value;
}

/// Appends a line. Control characters in the values are escaped, so that no name from a trace
/// controls the terminal or forges lines. Those in the format are kept.
template <typename... Values>
void append_line(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  const fmt::string_view words = format;
  fmt::format_to(std::back_inserter(text), fmt::runtime(words), shown(values)...);
  text += '\n';
}

}  // namespace eventspace
