// SPDX-License-Identifier: Apache-2.0
// base/settings.hpp — contents of a config file, with the position of every word
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/units.hpp"

namespace base {

/// One node of a YAML document: a scalar, a list, or a map in the order of the file. It is shared
/// and immutable, so copies are cheap.
class Settings {
 public:
  enum class Kind : std::uint8_t { null, scalar, list, map };
  using Entry = std::pair<Settings, Settings>;  // key (a scalar), value

  Settings();  ///< a null node without a position
  static Settings null(Position position);
  static Settings scalar(std::string text, Position position = {});
  static Settings list(std::vector<Settings> items, Position position = {});
  static Settings map(std::vector<Entry> entries, Position position = {});

  Kind kind() const;
  bool is_null() const { return kind() == Kind::null; }
  bool is_scalar() const { return kind() == Kind::scalar; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_map() const { return kind() == Kind::map; }
  const std::string& text() const;                   ///< text of a scalar; otherwise empty
  const std::vector<Settings>& items() const;        ///< items of a list; otherwise empty
  const std::vector<Entry>& entries() const;         ///< entries of a map; otherwise empty
  const Settings* find(std::string_view key) const;  ///< value in a map; nullptr if absent
  const Position& position() const;
  /// Returns the address of the node, which all copies of these Settings share. Nodes at different
  /// addresses may have equal contents.
  const void* identity() const { return node_.get(); }
  /// Returns a description for messages: "'fast'", "a list of 3", "a map", "nothing".
  std::string describe() const;

 private:
  struct Node;
  std::shared_ptr<const Node> node_;
};

/// A map under construction. Its words have no position.
class MapBuilder {
 public:
  MapBuilder& add(std::string key, Settings value) {
    entries_.emplace_back(Settings::scalar(std::move(key)), std::move(value));
    return *this;
  }
  MapBuilder& add(std::string key, std::string word) {
    return add(std::move(key), Settings::scalar(std::move(word)));
  }
  /// Returns the map. The builder is then empty.
  Settings done() { return Settings::map(std::exchange(entries_, {})); }

 private:
  std::vector<Settings::Entry> entries_;
};

/// parse_settings() reads YAML. `name` is the file name in messages. The size is limited because
/// the parser needs up to 250 bytes of memory per byte of text.
/// Throws: ConfigError for
/// - invalid YAML, and empty or binary text (NUL bytes or invalid UTF-8),
/// - text larger than `settings_bytes_max`, or nested more than 64 levels deep,
/// - duplicate keys (each with both positions), and keys that are not scalars,
/// - tags, merge keys and several documents,
/// - more than `settings_nodes_max` nodes with all aliases expanded.
inline constexpr std::size_t settings_bytes_max = 8u << 20;
inline constexpr std::size_t settings_nodes_max = 4'000'000;
Settings parse_settings(std::string_view text, const std::string& name);
Settings load_settings(const std::string& file);  ///< reads a file; throws if it is unreadable
class Mistakes;
/// Read the settings although they have duplicate keys, tags or merge keys. They add these to
/// `mistakes`, and leave the later ones of duplicate keys out. They throw for all other mistakes.
Settings parse_settings(std::string_view text, const std::string& name, Mistakes& mistakes);
Settings load_settings(const std::string& file, Mistakes& mistakes);

/// Returns YAML text that parse_settings() reads back to the same settings. The text is in block
/// style. Below the top level, lists and maps of scalars are on one line if they fit. Strings are
/// quoted only if necessary.
std::string print_settings(const Settings& settings);

/// Collects all mistakes of a file instead of stopping at the first. It keeps the first `shown_max`
/// mistakes in the order of the file. It only counts further mistakes, at most a million, so it
/// needs little memory.
class Mistakes {
 public:
  static constexpr std::size_t shown_max = 100;

  /// Adds a mistake. Does not list a message a second time at the same position. This avoids
  /// repetitions when a YAML alias is read several times.
  void add(const Position& position, std::string message);
  bool empty() const { return shown_.empty(); }
  /// Number of add() calls, including repeated mistakes.
  std::size_t size() const { return added_; }
  /// Throws ConfigError with the kept mistakes, sorted by position, if there are any mistakes.
  void throw_if_any() const;

 private:
  std::size_t added_ = 0;
  std::vector<Mistake> shown_;  // sorted by position
  std::unordered_set<std::size_t> seen_;
};

/// Reads the entries of one map, each with its type and default. finish() reports unknown keys, and
/// suggests known keys with similar names.
///
/// A null map counts as empty; any other value that is no map is a mistake. Each getter adds a
/// mistake and returns the default if the value is invalid. An example of a message: "latency:
/// expected a time such as 30ms, found 'fast'".
///
/// Requires: finish() is called; the destructor checks that, except during an exception.
class MapReader {
 public:
  /// `what` is the name of the map in messages.
  MapReader(Settings map, Mistakes& mistakes, std::string what);
  ~MapReader() noexcept(false);
  MapReader(const MapReader&) = delete;
  MapReader& operator=(const MapReader&) = delete;

  bool has(std::string_view key);
  /// Returns the value of `key`, which may be of any kind. Returns null Settings if the map has no
  /// such key.
  Settings take(std::string_view key);
  /// Like take(), but adds a mistake if the map has no such key. The mistake contains `expected`.
  Settings take_required(std::string_view key, std::string_view expected);

  std::string word(std::string_view key, std::string fallback);
  std::optional<std::string> word(std::string_view key);
  std::string required_word(std::string_view key, std::string_view expected);
  /// Returns the value of `key`, which must be one of `words`. For any other word, adds a mistake
  /// that suggests a near match.
  std::string choice(std::string_view key, const std::vector<std::string_view>& words,
                     std::string fallback);
  bool flag(std::string_view key, bool fallback);
  std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t least,
                       std::int64_t most);
  double number(std::string_view key, double fallback, double least, double most);
  Nanos time(std::string_view key, Nanos fallback);
  std::optional<Nanos> time(std::string_view key);
  std::uint64_t bytes(std::string_view key, std::uint64_t fallback);
  double bits_per_second(std::string_view key, double fallback);  ///< the word `unlimited` gives 0
  std::vector<std::string> words(std::string_view key);           ///< items of a list, or one word

  const Settings& map() const { return map_; }
  /// Returns the position of the value of `key`, or the map's position if the map has no such key.
  Position position_of(std::string_view key) const;
  Mistakes& mistakes() { return mistakes_; }
  /// Adds a mistake at the position of the value of `key`.
  void mistake(std::string_view key, std::string message);

  void finish();

 private:
  const Settings* look(std::string_view key);
  Settings map_;
  Mistakes& mistakes_;
  std::string what_;
  std::vector<std::string> asked_;
  bool finished_ = false;
  int exceptions_at_start_;
};

/// These functions read a single value, such as an item of a list. If the value is invalid, they
/// add a mistake that starts with `what` and return nullopt.
std::optional<Nanos> read_time(const Settings& value, Mistakes& mistakes, const std::string& what);
std::optional<double> read_number(const Settings& value, Mistakes& mistakes,
                                  const std::string& what);
std::optional<std::int64_t> read_integer(const Settings& value, Mistakes& mistakes,
                                         const std::string& what, std::int64_t least,
                                         std::int64_t most);

}  // namespace base
