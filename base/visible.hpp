// SPDX-License-Identifier: Apache-2.0
// base/visible.hpp — UTF-8 text from outside: escapes, single characters, prefixes
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace base {

/// Returns the text with an escape for each character that is not printable. Control characters and
/// invalid UTF-8 become escapes such as "\n" or "\x1b". Line separators and marks that change the
/// writing direction become escapes such as "\u202e". The result has no further characters to
/// escape.
std::string visible(std::string_view text);

struct Character {
  std::size_t bytes = 0;  ///< length of the character; 0 = invalid UTF-8
  unsigned code = 0;
};
/// Returns the first character of `text`. Requires: `text` is not empty.
Character first_character(std::string_view text);

/// Returns the first `bytes_max` bytes of a text, without a partial character at the end.
inline std::string_view beginning(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

}  // namespace base
