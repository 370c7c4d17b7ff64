// SPDX-License-Identifier: Apache-2.0
// base/settings_print.hpp — printing of settings as YAML in pieces, for very large output
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/settings.hpp"

namespace base {

/// A map entry with a scalar value: key and text.
using PrintedWord = std::pair<std::string_view, std::string_view>;

// Each function prints a part of the settings like print_settings() and appends it to `text`. The
// caller has already indented the first line of this part. If the part is a map, its first entries
// are `words`, followed by the entries of the settings.

/// Appends a scalar, quoted only if necessary.
void print_word(std::string& text, std::string_view word);
/// Appends "key: value", with all lines of the value.
void print_entry(std::string& text, std::string_view key, std::span<const PrintedWord> words,
                 const Settings& value, std::size_t indent);
/// Appends "- item", with all lines of the item.
void print_item(std::string& text, std::span<const PrintedWord> words, const Settings& item,
                std::size_t indent);

}  // namespace base
