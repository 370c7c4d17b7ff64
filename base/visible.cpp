// SPDX-License-Identifier: Apache-2.0
// base/visible.cpp — escaping, one UTF-8 character at a time
#include "base/visible.hpp"

#include <fmt/format.h>

#include <iterator>

namespace base {
namespace {

bool is_control(unsigned code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

bool turns_or_breaks(unsigned code) {
  return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  unsigned code = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr unsigned least[] = {0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least[size - 2] || is_surrogate || code > 0x10ffff) return {};
  return {size, code};
}

std::string visible(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    if (character.code == '\n') {
      shown += "\\n";
    } else if (character.bytes != 0 && turns_or_breaks(character.code)) {
      fmt::format_to(std::back_inserter(shown), "\\u{:04x}", character.code);
    } else if (character.bytes == 0 || is_control(character.code)) {
      for (const char one : text.substr(0, bytes))
        fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(one));
    } else {
      shown.append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace base
