// SPDX-License-Identifier: Apache-2.0
// base/settings_yaml.cpp — parser for YAML; the only file that uses yaml-cpp
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "base/settings.hpp"
#include "base/text_file.hpp"
#include "base/visible.hpp"

namespace base {
namespace {

constexpr std::size_t depth_max = 64;

[[noreturn]] void refuse(Position position, std::string message) {
  throw ConfigError({{std::move(position), std::move(message)}});
}

class Builder : public YAML::EventHandler {
 public:
  Builder(std::string file, Mistakes& mistakes) : file_(std::move(file)), mistakes_(mistakes) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) fail(mark, "expected the end of the file, found a second document");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({Settings::null(at(mark))}, anchor, mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias inside of its own value");
    add(found->second, 0, mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    if (value == "<<" && tag == "?" && expects_key()) {
      mistakes_.add(at(mark), "merge keys '<<' are not supported; write the entries out");
    }
    if (value.find('\0') != std::string::npos)
      mistakes_.add(at(mark), "expected text, found '\\0' in it");
    add({Settings::scalar(value, at(mark))}, anchor, mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(mark, tag, anchor, false);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(mark, tag, anchor, true);
  }
  void OnMapEnd() override { end(); }

  [[noreturn]] void fail(const YAML::Mark& mark, std::string message) {
    fail(at(mark), std::move(message));
  }
  [[noreturn]] void fail(const Position& position, std::string message) {
    mistakes_.add(position, std::move(message));
    mistakes_.throw_if_any();
    throw std::logic_error("unreachable");
  }

  /// Returns the first line of the innermost list or map that is still open.
  int opened_at_line() const { return open_.empty() ? 1 : open_.back().mark.line + 1; }

  const Settings& result() const { return root_; }

 private:
  struct Built {
    Settings settings;
    std::size_t nodes = 1;  // number of nodes with all aliases expanded
    std::size_t height = 0;
  };
  struct Open {
    bool is_map;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::vector<Settings> children;  // items of a list; alternating keys and values of a map
    std::size_t nodes = 1;
    std::size_t height = 1;
  };

  Position at(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  /// Adds a mistake if the value has a tag. For a value without a tag, the parser passes "?" as the
  /// tag, or "!" if the value is a quoted scalar.
  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    mistakes_.add(at(mark), "tags are not supported, found '" + tag + "'");
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().is_map && open_.back().children.size() % 2 == 0;
  }

  void start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, bool is_map) {
    check_tag(mark, tag);
    check_depth(mark, 1);
    open_.push_back({is_map, mark, anchor, {}});
  }

  void end() {
    Open done = std::move(open_.back());
    open_.pop_back();
    Settings settings =
        done.is_map ? map_of(done) : Settings::list(std::move(done.children), at(done.mark));
    add({std::move(settings), done.nodes, done.height}, done.anchor, done.mark);
  }

  Settings map_of(Open& map) {
    std::vector<Settings::Entry> entries;
    std::unordered_map<std::string_view, int> first_lines;
    for (std::size_t i = 0; i + 1 < map.children.size(); i += 2) {
      Settings& key = map.children[i];
      if (!key.is_scalar()) {
        mistakes_.add(key.position(), "expected a word as key, found " + key.describe());
        continue;
      }
      const auto [first, fresh] = first_lines.emplace(key.text(), key.position().line);
      if (!fresh) {
        mistakes_.add(key.position(), fmt::format("duplicate key {}; first given at line {}",
                                                  key.describe(), first->second));
        continue;
      }
      entries.emplace_back(key, std::move(map.children[i + 1]));
    }
    return Settings::map(std::move(entries), at(map.mark));
  }

  void check_depth(const YAML::Mark& mark, std::size_t height) {
    if (open_.size() + height <= depth_max) return;
    fail(mark, fmt::format("nested deeper than {} levels", depth_max));
  }

  void add(Built built, YAML::anchor_t anchor, const YAML::Mark& mark) {
    check_depth(mark, built.height);
    const std::size_t siblings = open_.empty() ? 0 : open_.back().nodes;
    if (siblings + built.nodes > settings_nodes_max) {
      fail(mark, fmt::format("more than {} values, aliases written out", settings_nodes_max));
    }
    if (anchor != 0) anchors_[anchor] = built;
    if (open_.empty()) {
      root_ = std::move(built.settings);
      return;
    }
    Open& parent = open_.back();
    parent.nodes += built.nodes;
    parent.height = std::max(parent.height, built.height + 1);
    parent.children.push_back(std::move(built.settings));
  }

  std::string file_;
  int documents_ = 0;
  Mistakes& mistakes_;
  Settings root_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Built> anchors_;
};

/// Returns the length of the character at the start of `text`. Returns 0 for invalid UTF-8, and for
/// control characters, because the YAML parser uses some of them internally, such as 0x04 for the
/// end of the input.
std::size_t character_bytes(std::string_view text) {
  const Character character = first_character(text);
  const bool is_control =
      character.code < 0x20 && std::string_view("\t\n\r").find(text[0]) == text.npos;
  return is_control ? 0 : character.bytes;
}

void check_text(std::string_view text, const std::string& name) {
  if (text.size() > settings_bytes_max) {
    refuse({name}, fmt::format("larger than {} bytes", settings_bytes_max));
  }
  Position position{name, 1, 1};
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character_bytes(text.substr(i));
    if (size == 0) {
      refuse(position, fmt::format("expected text in UTF-8, found byte 0x{:02x}",
                                   static_cast<unsigned char>(text[i])));
    }
    const bool new_line = text[i] == '\n';
    position.column = new_line ? 1 : position.column + static_cast<int>(size);
    position.line += new_line;
    i += size;
  }
}

/// Returns the word that caused the error at `mark`, if it is a word with brackets inside braces,
/// such as f64[16]. The parser mistakes such brackets for a list. Returns an empty text for any
/// other error.
std::string_view word_with_brackets(std::string_view text, const YAML::Mark& mark) {
  const auto at = static_cast<std::size_t>(std::max(mark.pos, 0));
  if (at == 0 || at >= text.size() || text[at] != '[') return {};
  const std::size_t begin = text.find_last_of(" \t\n\"',:{[]}", at - 1) + 1;
  const std::size_t end = text.find_first_of("]\n", at);
  if (begin == at || end == std::string_view::npos || text[end] != ']') return {};
  return text.substr(begin, end + 1 - begin);
}

/// Finds a tab in the indentation of the line at `mark`, or of one of the two lines before it.
/// Returns its position. The parser fails after such a tab, with a message that does not mention
/// the tab.
std::optional<Position> indenting_tab(std::string_view text, const YAML::Mark& mark,
                                      const std::string& name) {
  std::optional<Position> found;
  std::size_t begin = 0;
  for (int line = 0; line <= mark.line && begin < text.size(); ++line) {
    const std::size_t word = text.find_first_not_of(" \t", begin);
    const std::size_t tab = text.find('\t', begin);
    const bool is_blank = word == text.npos || text[word] == '\n' || text[word] == '\r';
    const bool is_near = line + 2 >= mark.line;
    if (is_near && !is_blank && text[word] != '#' && tab < word)
      found = Position{name, line + 1, static_cast<int>(tab - begin) + 1};
    begin = std::min(text.find('\n', begin), text.size()) + 1;
  }
  return found;
}

std::string words_of(const YAML::Exception& error, std::string_view text, int opened_at_line) {
  if (error.msg == YAML::ErrorMsg::DOC_IN_SCALAR) return "a quote is never closed";
  if (const auto word = word_with_brackets(text, error.mark); !word.empty())
    return fmt::format("a word with brackets inside {{...}} or [...] must be quoted: \"{}\"", word);
  const bool in_map = error.msg == YAML::ErrorMsg::END_OF_MAP_FLOW;
  if (in_map || error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW)
    return fmt::format("expected ',' or '{0}' of the '{1}' in line {2}", in_map ? '}' : ']',
                       in_map ? '{' : '[', opened_at_line);
  return error.msg;
}

}  // namespace

Settings parse_settings(std::string_view text, const std::string& name) {
  Mistakes mistakes;
  Settings settings = parse_settings(text, name, mistakes);
  mistakes.throw_if_any();
  return settings;
}

Settings parse_settings(std::string_view text, const std::string& name, Mistakes& mistakes) {
  check_text(text, name);
  // Without the document end marker `...` the parser accepts a quoted text that is never closed.
  const std::string_view end_mark = text.ends_with('\n') ? "...\n" : "\n...\n";
  std::istringstream stream(std::string(text) + std::string(end_mark));
  Builder builder(name, mistakes);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    if (const auto tab = indenting_tab(text, error.mark, name))
      builder.fail(
          *tab,
          "not YAML: a line is indented by a tab, which YAML does not allow; expected spaces");
    builder.fail(error.mark, "not YAML: " + words_of(error, text, builder.opened_at_line()));
  }
  Settings settings = builder.result();
  if (settings.is_null()) refuse({name, 1, 1}, "expected settings, found an empty file");
  return settings;
}

Settings load_settings(const std::string& file) {
  return parse_settings(load_text(file, settings_bytes_max), file);
}

Settings load_settings(const std::string& file, Mistakes& mistakes) {
  return parse_settings(load_text(file, settings_bytes_max), file, mistakes);
}

}  // namespace base
