// SPDX-License-Identifier: Apache-2.0
// base/settings.hpp — what a config file says, with the place of every word.
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

/// One node of a YAML document: a scalar, a list, or a map in the order of the file.
/// A value: copies are cheap (shared, immutable).
class Settings {
 public:
  enum class Kind : std::uint8_t { null, scalar, list, map };
  using Entry = std::pair<Settings, Settings>;  // key (a scalar), value

  Settings();  ///< null, nowhere
  static Settings null(Position position);
  static Settings scalar(std::string text, Position position = {});
  static Settings list(std::vector<Settings> items, Position position = {});
  static Settings map(std::vector<Entry> entries, Position position = {});

  Kind kind() const;
  bool is_null() const { return kind() == Kind::null; }
  bool is_scalar() const { return kind() == Kind::scalar; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_map() const { return kind() == Kind::map; }
  const std::string& text() const;                   ///< of a scalar; "" otherwise
  const std::vector<Settings>& items() const;        ///< of a list; none otherwise
  const std::vector<Entry>& entries() const;         ///< of a map; none otherwise
  const Settings* find(std::string_view key) const;  ///< of a map; null when absent
  const Position& position() const;
  /// Equal for copies of one value. Two values with different identities may still be equal.
  const void* identity() const { return node_.get(); }
  /// "'fast'", "a list of 3", "a map", "nothing": what an error message says it found.
  std::string describe() const;

 private:
  struct Node;
  std::shared_ptr<const Node> node_;
};

/// Reads YAML. Throws ConfigError for what is not YAML, empty, binary (NUL bytes or not UTF-8),
/// larger than `settings_bytes_max`, deeper than 64 levels, duplicate keys (each one named with
/// both places), keys that are not scalars, tags, merge keys, several documents, or more than
/// `settings_nodes_max` nodes once aliases are written out. `name` stands for the file in messages.
/// The parser needs up to 250 bytes of memory for a byte of text, which bounds the size.
inline constexpr std::size_t settings_bytes_max = 8u << 20;
inline constexpr std::size_t settings_nodes_max = 4'000'000;
Settings parse_settings(std::string_view text, const std::string& name);
Settings load_settings(const std::string& file);  ///< also ConfigError when it cannot be read

/// YAML text that parse_settings() reads back to the same settings: block style, below the top
/// lists and maps of scalars in one line where they fit, strings quoted only where they must be.
std::string print_settings(const Settings& settings);

/// Collects every mistake of a file instead of stopping at the first. Of many it keeps the first
/// ones of the file, and counts the others: up to a million, in little memory.
class Mistakes {
 public:
  static constexpr std::size_t shown_max = 100;

  /// What an alias stands for is read several times, but a person can only mend it once: the same
  /// message at the same place is one mistake.
  void add(const Position& position, std::string message);
  bool empty() const { return shown_.empty(); }
  std::size_t size() const { return added_; }  ///< the same one each time that it was added
  /// Throws ConfigError with everything added, sorted by place, if anything was.
  void throw_if_any() const;

 private:
  std::size_t added_ = 0;
  std::vector<Mistake> shown_;  // sorted
  std::unordered_set<std::size_t> seen_;
};

/// Takes the entries of one map one by one, each with its type and default, and at the end
/// reports the keys nobody asked for, with a near match among those that were asked for.
///
/// A null map is an empty one; anything else that is no map is a mistake. Each getter adds a
/// mistake and returns the default when the value is not what it should be.
/// Messages: "latency: expected a time such as 30ms, found 'fast'". `finish()` must be called;
/// the destructor ENSUREs that it was, unless an exception is in flight.
class MapReader {
 public:
  MapReader(Settings map, Mistakes& mistakes, std::string what);  ///< what: "cluster alpha"
  ~MapReader() noexcept(false);
  MapReader(const MapReader&) = delete;
  MapReader& operator=(const MapReader&) = delete;

  bool has(std::string_view key);
  /// The raw value for those who read it themselves; null Settings when absent.
  Settings take(std::string_view key);
  Settings take_required(std::string_view key, std::string_view expected);

  std::string word(std::string_view key, std::string fallback);
  std::optional<std::string> word(std::string_view key);
  std::string required_word(std::string_view key, std::string_view expected);
  /// One of `words`; a near match is offered.
  std::string choice(std::string_view key, const std::vector<std::string_view>& words,
                     std::string fallback);
  bool flag(std::string_view key, bool fallback);
  std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t least,
                       std::int64_t most);
  double number(std::string_view key, double fallback, double least, double most);
  std::optional<double> number(std::string_view key);
  Nanos time(std::string_view key, Nanos fallback);
  std::optional<Nanos> time(std::string_view key);
  std::uint64_t bytes(std::string_view key, std::uint64_t fallback);
  double bits_per_second(std::string_view key, double fallback);  ///< 0 is "unlimited"
  std::vector<std::string> words(std::string_view key);           ///< a list, or one word

  const Settings& map() const { return map_; }
  const Position& position() const { return map_.position(); }
  Position position_of(std::string_view key) const;  ///< of the value; of the map when absent
  Mistakes& mistakes() { return mistakes_; }
  void mistake(std::string_view key, std::string message);  ///< "key: message", at that key's value

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

/// Readers of single values for lists and unions; each adds a mistake that starts with `what`.
std::optional<Nanos> read_time(const Settings& value, Mistakes& mistakes, const std::string& what);
std::optional<double> read_number(const Settings& value, Mistakes& mistakes,
                                  const std::string& what);
std::optional<std::int64_t> read_integer(const Settings& value, Mistakes& mistakes,
                                         const std::string& what, std::int64_t least,
                                         std::int64_t most);

}  // namespace base
