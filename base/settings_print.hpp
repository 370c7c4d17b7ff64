// SPDX-License-Identifier: Apache-2.0
// base/settings_print.hpp — prints settings as YAML in pieces, if the whole is too large to hold.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/settings.hpp"

namespace base {

/// An entry of a map: a key and a scalar.
using PrintedWord = std::pair<std::string_view, std::string_view>;

// Each adds to `text` what print_settings() prints of a part of the whole, whose line is indented
// already. A map begins with `words`, and its other entries are those of the settings.

/// A scalar, in quotes only where it must be.
void print_word(std::string& text, std::string_view word);
/// "key: value", with all lines of the value.
void print_entry(std::string& text, std::string_view key, std::span<const PrintedWord> words,
                 const Settings& value, std::size_t indent);
/// "- item", with all lines of the item.
void print_item(std::string& text, std::span<const PrintedWord> words, const Settings& item,
                std::size_t indent);

}  // namespace base
