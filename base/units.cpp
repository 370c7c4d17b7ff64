// SPDX-License-Identifier: Apache-2.0
// base/units.cpp — exact parsing and printing of numbers with units
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace base {
namespace {

__extension__ typedef unsigned __int128 Wide;

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};

// Units from the largest to the smallest. If the texts with two units are equally short, printing
// uses the larger unit.
constexpr std::array<Unit, 6> time_units = {{{"h", 3'600'000'000'000},
                                             {"min", 60'000'000'000},
                                             {"s", 1'000'000'000},
                                             {"ms", 1'000'000},
                                             {"us", 1'000},
                                             {"ns", 1}}};
constexpr std::array<Unit, 7> byte_units = {{{"GiB", 1u << 30},
                                             {"GB", 1'000'000'000},
                                             {"MiB", 1u << 20},
                                             {"MB", 1'000'000},
                                             {"KiB", 1u << 10},
                                             {"KB", 1'000},
                                             {"B", 1}}};
// Units that are parsed but never printed: the SI symbol, letters as in GNU tools, and bytes
// without a unit.
constexpr std::array<Unit, 6> more_byte_units = {
    {{"G", 1u << 30}, {"M", 1u << 20}, {"K", 1u << 10}, {"k", 1u << 10}, {"kB", 1'000}, {"", 1}}};

struct RateUnit {
  std::string_view name;
  std::string_view exponent;
  double scale;
};
constexpr std::array<RateUnit, 4> rate_units = {
    {{"Gbit", "e9", 1e9}, {"Mbit", "e6", 1e6}, {"kbit", "e3", 1e3}, {"bit", "e0", 1}}};

struct Quantity {
  std::string_view whole;
  std::string_view fraction;
  std::string_view number;  // whole part, point and fraction
  std::string_view unit;
};

std::string_view take_digits(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

/// Whether the digits look like an octal number.
bool has_leading_zero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
}

template <class T>
std::optional<T> parse_whole_text(std::string_view text) {
  if (has_leading_zero(text.substr(text.starts_with('-') ? 1 : 0))) return std::nullopt;
  T value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::optional<Quantity> split(std::string_view text) {
  Quantity quantity;
  std::string_view rest = text;
  quantity.whole = take_digits(rest);
  if (quantity.whole.empty() || has_leading_zero(quantity.whole)) return std::nullopt;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    quantity.fraction = take_digits(rest);
    if (quantity.fraction.empty()) return std::nullopt;
  }
  quantity.number = text.substr(0, text.size() - rest.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  quantity.unit = rest;
  // Refuses a blank after a number without a unit.
  if (quantity.unit.empty() && quantity.number != text) return std::nullopt;
  return quantity;
}

std::uint64_t power_of_ten(std::size_t exponent) {
  std::uint64_t power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

struct Parts {
  Wide whole;               // whole number of smallest units
  std::uint64_t numerator;  // numerator of the rest below one smallest unit
  std::uint64_t denominator;
};

/// Parses `text`, a number with a unit of `units`, and converts it to the smallest of these units.
/// Computes with integers, so that no digit is lost.
std::optional<Parts> parts_of(std::string_view text, std::span<const Unit> units) {
  const std::optional<Quantity> quantity = split(text);
  if (!quantity) return std::nullopt;
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [&](const Unit& each) { return each.name == quantity->unit; });
  if (unit == units.end()) return std::nullopt;
  std::string_view fraction = quantity->fraction;
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  constexpr std::size_t digits_max = std::numeric_limits<std::uint64_t>::digits10 - 1;
  if (fraction.size() > digits_max) return std::nullopt;

  std::uint64_t whole = 0;
  const char* const end = quantity->whole.data() + quantity->whole.size();
  if (std::from_chars(quantity->whole.data(), end, whole).ec != std::errc()) return std::nullopt;
  std::uint64_t numerator = 0;
  std::from_chars(fraction.data(), fraction.data() + fraction.size(), numerator);
  const std::uint64_t denominator = power_of_ten(fraction.size());
  const Wide scaled = Wide{numerator} * unit->scale;
  return Parts{Wide{whole} * unit->scale + scaled / denominator,
               static_cast<std::uint64_t>(scaled % denominator), denominator};
}

std::string shortest(std::uint64_t value, std::span<const Unit> units) {
  std::string text = fmt::format("{}{}", value, units.back().name);
  if (value == 0) return text;
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    if (value % unit->scale != 0) continue;
    std::string candidate = fmt::format("{}{}", value / unit->scale, unit->name);
    if (candidate.size() <= text.size()) text = std::move(candidate);
  }
  return text;
}

/// Returns the shortest decimal text of `value`, never with an exponent.
std::string fixed(double value) {
  std::array<char, 1100> digits;
  const auto result =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return std::string(digits.data(), result.ptr);
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_whole_text<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_natural(std::string_view text) {
  return parse_whole_text<std::uint64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
  const std::optional<double> number = parse_whole_text<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<Nanos> parse_time(std::string_view text) {
  const std::optional<Parts> parts = parts_of(text, time_units);
  if (!parts) return std::nullopt;
  const Wide rounded = parts->whole + (parts->numerator >= parts->denominator - parts->numerator);
  if (rounded > static_cast<Wide>(time_max.count())) return std::nullopt;
  return Nanos(static_cast<std::int64_t>(rounded));
}

std::string_view expected_time(std::string_view text) {
  const bool is_long = parts_of(text, time_units).has_value() && !parse_time(text);
  return is_long ? "a time of at most 1000000000s, about 30 years" : "a time such as 30ms";
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::optional<Parts> parts = parts_of(text, byte_units);
  if (!parts) parts = parts_of(text, more_byte_units);
  if (!parts || parts->numerator != 0) return std::nullopt;
  if (parts->whole > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return static_cast<std::uint64_t>(parts->whole);
}

std::optional<double> parse_bits_per_second(std::string_view text) {
  if (text.ends_with("/s")) text.remove_suffix(2);
  const std::optional<Quantity> quantity = split(text);
  if (!quantity) return std::nullopt;
  for (const RateUnit& unit : rate_units) {
    if (unit.name != quantity->unit) continue;
    // Appends the power of ten of the unit as an exponent. The result is then rounded only once.
    const std::string number = std::string(quantity->number) + std::string(unit.exponent);
    double rate = 0;
    const auto result = std::from_chars(number.data(), number.data() + number.size(), rate);
    if (result.ec != std::errc() || rate == 0) return std::nullopt;
    return rate;
  }
  return std::nullopt;
}

std::string format_time(Nanos span) {
  const auto count = static_cast<std::uint64_t>(span.count());
  if (span < Nanos::zero()) return fmt::format("-{}", shortest(0 - count, time_units));
  return shortest(count, time_units);
}

std::string format_bytes(std::uint64_t bytes) { return shortest(bytes, byte_units); }

std::string format_bits_per_second(double rate) {
  std::string text = fixed(rate) + "bit";
  if (rate == 0 || !std::isfinite(rate)) return text;
  for (auto unit = rate_units.rbegin(); unit != rate_units.rend(); ++unit) {
    const std::string number = fixed(rate / unit->scale);
    if (number.find('.') != std::string::npos) continue;
    std::string candidate = number + std::string(unit->name);
    if (candidate.size() > text.size() || parse_bits_per_second(candidate) != rate) continue;
    text = std::move(candidate);
  }
  return text;
}

}  // namespace base
