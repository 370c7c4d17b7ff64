// SPDX-License-Identifier: Apache-2.0
// base/settings_print.cpp — settings as YAML text.
#include <algorithm>

#include "base/settings.hpp"

namespace base {
namespace {

constexpr std::size_t columns_max = 100;
constexpr std::size_t indent_step = 2;
/// YAML finds no "key:" that is longer than 1024 bytes; longer keys are announced by "? ".
constexpr std::size_t short_key_max = 1000;

bool is_plain_start(std::string_view text) {
  const char first = text.front();
  if (first == '-') return text.size() > 1 && is_plain_start(text.substr(1)) && text[1] != '-';
  const bool word = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
                    (first >= '0' && first <= '9');
  // The byte 0xEF may start a byte order mark, which a reader drops.
  const auto byte = static_cast<unsigned char>(first);
  return word || std::string_view("_./+<=($^;").find(first) != std::string_view::npos ||
         (byte >= 0xC2 && byte != 0xEF);
}

/// Whether YAML reads `text` without quotes as just these characters, inside flow style too.
bool is_plain(std::string_view text) {
  for (const std::string_view special : {"", "~", "null", "Null", "NULL", "<<"}) {
    if (text == special) return false;
  }
  if (!is_plain_start(text) || text.starts_with("...")) return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  if (text.find(": ") != std::string_view::npos) return false;
  if (text.find(" #") != std::string_view::npos) return false;
  return std::none_of(text.begin(), text.end(), [](char letter) {
    const bool control = static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
    return control || std::string_view(",?[]{}\"'").find(letter) != std::string_view::npos;
  });
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
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
  return out + '"';
}

/// What stands on one line: a scalar, or null.
std::string leaf_text(const Settings& leaf) {
  if (leaf.is_null()) return "~";
  return is_plain(leaf.text()) ? leaf.text() : quoted(leaf.text());
}

bool is_leaf(const Settings& settings) { return settings.is_null() || settings.is_scalar(); }

/// "[a, b]" or "{a: 1, b: 2}" when that is what the settings are and it fits in `room` columns;
/// "" when it is not.
std::string flow_text(const Settings& settings, std::size_t room) {
  std::string text;
  for (const Settings& item : settings.items()) {
    if (!is_leaf(item) || text.size() > room) return "";
    text += (text.empty() ? "" : ", ") + leaf_text(item);
  }
  for (const auto& [key, value] : settings.entries()) {
    if (!is_leaf(value) || text.size() > room) return "";
    text += (text.empty() ? "" : ", ") + leaf_text(key) + ": " + leaf_text(value);
  }
  text = settings.is_list() ? "[" + text + "]" : "{" + text + "}";
  return text.size() <= room ? text : "";
}

class Printer {
 public:
  /// Every line of a list or map, the first of which starts where the cursor stands.
  void block(const Settings& settings, std::size_t indent) {
    bool first = true;
    const auto next_line = [&] {
      if (!first) text_.append(indent, ' ');
      first = false;
    };
    for (const Settings& item : settings.items()) {
      next_line();
      text_ += "- ";
      after_dash(item, indent + indent_step);
    }
    for (const auto& [key, value] : settings.entries()) {
      next_line();
      entry(leaf_text(key), value, indent);
    }
  }

  std::string text_;

 private:
  /// Writes what fits behind the cursor and ends the line, or says that it does not fit.
  bool rest_of_line(const Settings& value, std::size_t column) {
    const std::size_t room = columns_max - std::min(column, columns_max);
    const bool empty = value.items().empty() && value.entries().empty();
    const std::string text = is_leaf(value) ? leaf_text(value) : flow_text(value, room);
    if (text.empty() && !empty) return false;
    text_ += !text.empty() ? text : value.is_list() ? "[]" : "{}";
    text_ += '\n';
    return true;
  }

  void after_dash(const Settings& item, std::size_t indent) {
    if (!rest_of_line(item, indent)) block(item, indent);
  }

  void entry(const std::string& key, const Settings& value, std::size_t indent) {
    if (key.size() > short_key_max) {
      text_ += "? " + key + "\n" + std::string(indent, ' ') + ": ";
      after_dash(value, indent + indent_step);
      return;
    }
    text_ += key + ": ";
    if (rest_of_line(value, indent + key.size() + 2)) return;
    text_.back() = '\n';
    text_.append(indent + indent_step, ' ');
    block(value, indent + indent_step);
  }
};

}  // namespace

std::string print_settings(const Settings& settings) {
  if (is_leaf(settings)) return leaf_text(settings) + "\n";
  if (settings.items().empty() && settings.entries().empty()) {
    return settings.is_list() ? "[]\n" : "{}\n";
  }
  Printer printer;
  printer.block(settings, 0);
  return std::move(printer.text_);
}

}  // namespace base
