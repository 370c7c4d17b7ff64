// SPDX-License-Identifier: Apache-2.0
// base/settings_print.cpp — conversion of settings to YAML text
#include "base/settings_print.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace base {
namespace {

constexpr std::size_t columns_max = 100;
constexpr std::size_t indent_step = 2;
/// Maximum number of bytes of a key that is printed without the prefix "? ". YAML allows 1024.
constexpr std::size_t short_key_max = 1000;

bool is_plain_start(std::string_view text) {
  const char first = text.front();
  if (first == '-') return text.size() > 1 && is_plain_start(text.substr(1)) && text[1] != '-';
  const bool word = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
                    (first >= '0' && first <= '9');
  // The byte 0xEF may start a byte order mark, which readers drop.
  const auto byte = static_cast<unsigned char>(first);
  return word || std::string_view("_./+<=($^;").find(first) != std::string_view::npos ||
         (byte >= 0xC2 && byte != 0xEF);
}

/// Whether a character makes quotes necessary.
enum class Letter : std::uint8_t {
  plain,
  neighbour,  ///< requires quotes after certain characters
  quoted,     ///< requires quotes, because YAML uses it in flow style
};
constexpr std::array<Letter, 256> letters = [] {
  std::array<Letter, 256> found{};
  for (std::size_t control = 0; control < 0x20; ++control) found[control] = Letter::quoted;
  for (const char letter : std::string_view(",?[]{}\"'\x7F"))
    found[static_cast<unsigned char>(letter)] = Letter::quoted;
  found[' '] = found['#'] = Letter::neighbour;
  return found;
}();

constexpr std::array<std::string_view, 5> words_for_null = {"~", "null", "Null", "NULL", "<<"};

/// Whether YAML reads unquoted `text` as exactly these characters, also in flow style.
bool is_plain(std::string_view text) {
  if (text.empty() || !is_plain_start(text)) return false;
  if (text[0] == '.' && text.starts_with("...")) return false;
  if (text.size() <= 4)
    for (const std::string_view special : words_for_null)
      if (text == special) return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  char before = '\0';
  for (const char character : text) {
    if (letters[static_cast<unsigned char>(character)] != Letter::plain) {
      if (letters[static_cast<unsigned char>(character)] == Letter::quoted) return false;
      if (before == (character == ' ' ? ':' : ' ')) return false;
    }
    before = character;
  }
  return true;
}

void add_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (letter == '\n') {
      out += "\\n";
    } else if (letter == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    } else {
      out += letter;
    }
  }
  out += '"';
}

bool is_leaf(const Settings& settings) { return settings.is_null() || settings.is_scalar(); }

class Printer {
 public:
  explicit Printer(std::string& text) : text_(text) {}

  void word(std::string_view word) {
    if (is_plain(word))
      text_ += word;
    else
      add_quoted(text_, word);
  }

  /// Writes all lines of a list or map; the first starts at the cursor. `words` are entries that
  /// precede the entries of `settings`.
  void block(std::span<const PrintedWord> words, const Settings& settings, std::size_t indent) {
    bool first = true;
    const auto next_line = [&] {
      if (!first) text_.append(indent, ' ');
      first = false;
    };
    for (const auto& [key, value] : words) {
      next_line();
      word_entry(key, value);
      text_ += '\n';
    }
    for (const Settings& item : settings.items()) {
      next_line();
      text_ += "- ";
      after_dash({}, item, indent + indent_step);
    }
    for (const auto& [key, value] : settings.entries()) {
      next_line();
      entry(key.text(), {}, value, indent);
    }
  }

  void after_dash(std::span<const PrintedWord> words, const Settings& item, std::size_t indent) {
    if (!rest_of_line(words, item, indent)) block(words, item, indent);
  }

  void entry(std::string_view key, std::span<const PrintedWord> words, const Settings& value,
             std::size_t indent) {
    const std::size_t begin = text_.size();
    word(key);
    const std::size_t key_bytes = text_.size() - begin;
    if (key_bytes > short_key_max) {
      text_.insert(begin, "? ");
      text_ += '\n';
      text_.append(indent, ' ');
      text_ += ": ";
      after_dash(words, value, indent + indent_step);
      return;
    }
    text_ += ": ";
    if (rest_of_line(words, value, indent + key_bytes + 2)) return;
    text_.back() = '\n';
    text_.append(indent + indent_step, ' ');
    block(words, value, indent + indent_step);
  }

 private:
  void leaf(const Settings& leaf) {
    if (leaf.is_null())
      text_ += '~';
    else
      word(leaf.text());
  }

  void word_entry(std::string_view key, std::string_view value) {
    word(key);
    text_ += ": ";
    word(value);
  }

  /// Writes the value after the cursor and ends the line. Returns false, without output, if a list
  /// or map does not fit into the line.
  bool rest_of_line(std::span<const PrintedWord> words, const Settings& value, std::size_t column) {
    if (words.empty() && is_leaf(value)) {
      leaf(value);
    } else {
      const std::size_t begin = text_.size();
      const bool is_empty = words.empty() && value.items().empty() && value.entries().empty();
      const std::size_t room = columns_max - std::min(column, columns_max);
      if (!flow(words, value, begin + room) && !is_empty) {
        text_.resize(begin);
        return false;
      }
    }
    text_ += '\n';
    return true;
  }

  /// Writes "[a, b]" or "{a: 1, b: 2}". Returns false, after a partial output, if a value is not a
  /// scalar or the text would exceed `end`.
  bool flow(std::span<const PrintedWord> words, const Settings& settings, std::size_t end) {
    text_ += settings.is_list() ? '[' : '{';
    bool first = true;
    const auto separate = [&] {
      if (!first) text_ += ", ";
      first = false;
    };
    for (const auto& [key, value] : words) {
      separate();
      word_entry(key, value);
    }
    for (const Settings& item : settings.items()) {
      if (!is_leaf(item) || text_.size() > end) return false;
      separate();
      leaf(item);
    }
    for (const auto& [key, value] : settings.entries()) {
      if (!is_leaf(value) || text_.size() > end) return false;
      separate();
      word(key.text());
      text_ += ": ";
      leaf(value);
    }
    text_ += settings.is_list() ? ']' : '}';
    return text_.size() <= end;
  }

  std::string& text_;
};

}  // namespace

void print_word(std::string& text, std::string_view word) { Printer(text).word(word); }

void print_entry(std::string& text, std::string_view key, std::span<const PrintedWord> words,
                 const Settings& value, std::size_t indent) {
  Printer(text).entry(key, words, value, indent);
}

void print_item(std::string& text, std::span<const PrintedWord> words, const Settings& item,
                std::size_t indent) {
  text += "- ";
  Printer(text).after_dash(words, item, indent + indent_step);
}

std::string print_settings(const Settings& settings) {
  std::string text;
  const bool is_empty = settings.items().empty() && settings.entries().empty();
  if (is_leaf(settings) || is_empty)
    Printer(text).after_dash({}, settings, 0);
  else
    Printer(text).block({}, settings, 0);
  return text;
}

}  // namespace base
