// SPDX-License-Identifier: Apache-2.0
// base/map_reader.cpp — typed values from a map, with a mistake for each invalid value
#include <algorithm>
#include <exception>
#include <limits>
#include <unordered_set>

#include "base/near_match.hpp"
#include "base/settings.hpp"

namespace base {
namespace {

void expected(const Settings& value, Mistakes& mistakes, std::string_view what,
              std::string_view expectation) {
  mistakes.add(value.position(),
               fmt::format("{}: expected {}, found {}", what, expectation, value.describe()));
}

/// Returns "an integer", "an integer of at least 1" or "a number from 0 to 1". A bound that is a
/// limit of T is not mentioned.
template <class T>
std::string in_range(std::string_view noun, T least, T most) {
  const bool from = least > std::numeric_limits<T>::lowest();
  const bool to = most < std::numeric_limits<T>::max();
  if (from && to) return fmt::format("{} from {} to {}", noun, least, most);
  if (from) return fmt::format("{} of at least {}", noun, least);
  if (to) return fmt::format("{} of at most {}", noun, most);
  return std::string(noun);
}

}  // namespace

std::optional<Nanos> read_time(const Settings& value, Mistakes& mistakes, const std::string& what) {
  const std::optional<Nanos> time = parse_time(value.text());
  if (!time) expected(value, mistakes, what, expected_time(value.text()));
  return time;
}

std::optional<double> read_number(const Settings& value, Mistakes& mistakes,
                                  const std::string& what) {
  const std::optional<double> number = parse_number(value.text());
  if (!number) expected(value, mistakes, what, "a number");
  return number;
}

std::optional<std::int64_t> read_integer(const Settings& value, Mistakes& mistakes,
                                         const std::string& what, std::int64_t least,
                                         std::int64_t most) {
  const std::optional<std::int64_t> integer = parse_integer(value.text());
  if (integer && *integer >= least && *integer <= most) return integer;
  expected(value, mistakes, what, in_range("an integer", least, most));
  return std::nullopt;
}

MapReader::MapReader(Settings map, Mistakes& mistakes, std::string what)
    : map_(std::move(map)),
      mistakes_(mistakes),
      what_(std::move(what)),
      exceptions_at_start_(std::uncaught_exceptions()) {
  if (!map_.is_map() && !map_.is_null()) expected(map_, mistakes_, what_, "a map");
}

MapReader::~MapReader() noexcept(false) {
  ENSURE(finished_ || std::uncaught_exceptions() > exceptions_at_start_);
}

bool MapReader::has(std::string_view key) { return look(key) != nullptr; }

Settings MapReader::take(std::string_view key) {
  const Settings* value = look(key);
  return value != nullptr ? *value : Settings();
}

Settings MapReader::take_required(std::string_view key, std::string_view expectation) {
  const Settings* value = look(key);
  if (value != nullptr) return *value;
  // If the value is no map, the missing key is no further mistake: the value itself is already
  // reported.
  if (map_.is_map() || map_.is_null()) {
    mistakes_.add(map_.position(),
                  fmt::format("{}: missing in {}, expected {}", key, what_, expectation));
  }
  return Settings();
}

std::string MapReader::word(std::string_view key, std::string fallback) {
  return word(key).value_or(std::move(fallback));
}

std::optional<std::string> MapReader::word(std::string_view key) {
  const Settings* value = look(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_scalar()) return value->text();
  expected(*value, mistakes_, key, "a word");
  return std::nullopt;
}

std::string MapReader::required_word(std::string_view key, std::string_view expectation) {
  const Settings* found = look(key);
  const Settings value = take_required(key, expectation);
  if (found != nullptr && !value.is_scalar()) expected(value, mistakes_, key, expectation);
  return value.text();
}

std::string MapReader::choice(std::string_view key, const std::vector<std::string_view>& words,
                              std::string fallback) {
  const Settings* value = look(key);
  if (value == nullptr) return fallback;
  const bool known = std::find(words.begin(), words.end(), value->text()) != words.end();
  if (value->is_scalar() && known) return value->text();
  const auto near = near_match(value->text(), words);
  mistake(key, fmt::format("expected {}, found {}{}", either_of(words), value->describe(),
                           near ? fmt::format("; did you mean '{}'?", *near) : ""));
  return fallback;
}

bool MapReader::flag(std::string_view key, bool fallback) {
  return choice(key, {"true", "false"}, fallback ? "true" : "false") == "true";
}

std::int64_t MapReader::integer(std::string_view key, std::int64_t fallback, std::int64_t least,
                                std::int64_t most) {
  const Settings* value = look(key);
  if (value == nullptr) return fallback;
  return read_integer(*value, mistakes_, std::string(key), least, most).value_or(fallback);
}

double MapReader::number(std::string_view key, double fallback, double least, double most) {
  const Settings* value = look(key);
  if (value == nullptr) return fallback;
  const std::optional<double> number = parse_number(value->text());
  if (number && *number >= least && *number <= most) return *number;
  expected(*value, mistakes_, key, in_range("a number", least, most));
  return fallback;
}

Nanos MapReader::time(std::string_view key, Nanos fallback) { return time(key).value_or(fallback); }

std::optional<Nanos> MapReader::time(std::string_view key) {
  const Settings* value = look(key);
  if (value == nullptr) return std::nullopt;
  return read_time(*value, mistakes_, std::string(key));
}

std::uint64_t MapReader::bytes(std::string_view key, std::uint64_t fallback) {
  const Settings* value = look(key);
  if (value == nullptr) return fallback;
  const std::optional<std::uint64_t> bytes = parse_bytes(value->text());
  if (!bytes) expected(*value, mistakes_, key, "a size such as 64KiB");
  return bytes.value_or(fallback);
}

double MapReader::bits_per_second(std::string_view key, double fallback) {
  const Settings* value = look(key);
  if (value == nullptr) return fallback;
  if (value->text() == "unlimited") return 0;
  const std::optional<double> rate = parse_bits_per_second(value->text());
  if (!rate) expected(*value, mistakes_, key, "a rate above 0 such as 100Mbit, or unlimited");
  return rate.value_or(fallback);
}

std::vector<std::string> MapReader::words(std::string_view key) {
  const Settings* value = look(key);
  if (value == nullptr) return {};
  if (value->is_scalar()) return {value->text()};
  if (!value->is_list()) expected(*value, mistakes_, key, "a word or a list of words");
  std::vector<std::string> words;
  for (const Settings& item : value->items()) {
    if (item.is_scalar()) {
      words.push_back(item.text());
    } else {
      expected(item, mistakes_, key, "a word");
    }
  }
  return words;
}

Position MapReader::position_of(std::string_view key) const {
  const Settings* value = map_.find(key);
  return value != nullptr ? value->position() : map_.position();
}

void MapReader::mistake(std::string_view key, std::string message) {
  mistakes_.add(position_of(key), fmt::format("{}: {}", key, message));
}

void MapReader::finish() {
  finished_ = true;
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  const std::unordered_set<std::string_view> asked(known.begin(), known.end());
  for (const auto& [key, value] : map_.entries()) {
    if (asked.contains(key.text())) continue;
    std::string hint;
    if (const auto near = near_match(key.text(), known)) {
      hint = fmt::format("; did you mean '{}'?", *near);
    } else {
      if (!known.empty()) hint = fmt::format("; expected {}", either_of(known));
      if (value.is_null()) hint += "; inside {...} a value with a comma must be quoted";
    }
    mistakes_.add(key.position(),
                  fmt::format("unknown key {} in {}{}", key.describe(), what_, hint));
  }
}

const Settings* MapReader::look(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  return map_.find(key);
}

}  // namespace base
