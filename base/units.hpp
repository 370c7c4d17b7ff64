// SPDX-License-Identifier: Apache-2.0
// base/units.hpp — parsing and printing of numbers, times, sizes and rates
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// All durations and times of this project, in whole nanoseconds.
using Nanos = std::chrono::nanoseconds;

/// Longest time that a config or option may contain, about 30 years. The sum of a few such times
/// does not overflow.
inline constexpr Nanos time_max = std::chrono::seconds(1'000'000'000);

/// Parse plain numbers: "12", "-5", and in parse_number() also "0.5" and "1e-3", always finite.
/// Return nullopt for any other text, such as text with blanks or '+', hexadecimal numbers, and
/// 010, which could mean octal.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_natural(std::string_view text);
std::optional<double> parse_number(std::string_view text);

/// Parse a number with a unit ("30ms", "1.5 s", "64KiB", "100Mbit"). Return nullopt for other text,
/// negative numbers and overflow.
/// - Time: ns us ms s min h, up to time_max.
/// - Bytes: B kB KB MB GB KiB MiB GiB; k, K, M and G are binary, and a bare number counts bytes.
/// - Rates (bits per second): bit kbit Mbit Gbit, optionally followed by "/s"; never 0.
std::optional<Nanos> parse_time(std::string_view text);
std::optional<std::uint64_t> parse_bytes(std::string_view text);
std::optional<double> parse_bits_per_second(std::string_view text);

/// Returns what parse_time() expects instead of `text`, for an error message: "a time such as
/// 30ms".
std::string_view expected_time(std::string_view text);

/// Return the shortest text that the parser of this unit reads back exactly: "30ms", "1500us".
std::string format_time(Nanos span);
std::string format_bytes(std::uint64_t bytes);
std::string format_bits_per_second(double rate);

}  // namespace base
