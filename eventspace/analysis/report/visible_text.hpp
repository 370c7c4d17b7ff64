// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/visible_text.hpp — lines and tables in which control
// characters of names from a trace are escaped.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/visible.hpp"

namespace eventspace {

/// Returns a text with control characters escaped (`base::visible`), and other values unchanged.
template <typename Value>
auto shown(const Value& value) {
  if constexpr (std::is_convertible_v<const Value&, std::string_view>)
    return base::visible(value);
  else
    return value;
}

/// Appends a line. Control characters in the values are escaped, so that no name from a trace
/// controls the terminal or forges lines. Control characters in the format are kept.
template <typename... Values>
void append_line(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  const fmt::string_view words = format;
  fmt::format_to(std::back_inserter(text), fmt::runtime(words), shown(values)...);
  text += '\n';
}

/// Base class of printers that write lines and tables for a terminal.
class TextWithTables {
 protected:
  /// `rows` is the maximum number of rows in a table.
  explicit TextWithTables(std::size_t rows) : rows_(rows) {}

  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    append_line<Values...>(text_, format, std::forward<Values>(values)...);
  }
  /// Prints the rows with the greatest keys, in descending order, and the number of other rows.
  template <typename Row, typename Key, typename Show>
  void table(const std::vector<Row>& rows, const Key& key, const Show& show) {
    std::vector<const Row*> order;
    for (const Row& row : rows) order.push_back(&row);
    std::stable_sort(order.begin(), order.end(),
                     [&](const Row* a, const Row* b) { return key(*a) > key(*b); });
    for (std::size_t place = 0; place < std::min(rows_, order.size()); ++place) show(*order[place]);
    if (order.size() > rows_) line("  ... and {} more", order.size() - rows_);
  }

  const std::size_t rows_;
  std::string text_;
};

}  // namespace eventspace
