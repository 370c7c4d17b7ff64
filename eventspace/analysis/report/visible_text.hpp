// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/visible_text.hpp — lines for a terminal, with names that a trace says.
#pragma once
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/visible.hpp"

namespace eventspace {

/// Text as `base::visible` shows it, any other value as it is.
template <typename Value>
auto shown(const Value& value) {
  if constexpr (std::is_convertible_v<const Value&, std::string_view>)
    return base::visible(value);
  else
    return value;
}

/// Appends a line. Control characters in the values are written out, so that no name from a trace
/// acts on a terminal or makes up lines. Those of the format are left alone.
template <typename... Values>
void append_line(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  const fmt::string_view words = format;
  fmt::format_to(std::back_inserter(text), fmt::runtime(words), shown(values)...);
  text += '\n';
}

}  // namespace eventspace
