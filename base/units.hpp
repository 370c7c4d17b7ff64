// SPDX-License-Identifier: Apache-2.0
// base/units.hpp — numbers, time spans, byte counts and rates as people write them.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// Every span and every point in time of this project: whole nanoseconds.
using Nanos = std::chrono::nanoseconds;

/// The longest time that may be written, about 30 years: a few of them still add up.
inline constexpr Nanos time_max = std::chrono::seconds(1'000'000'000);

/// Plain numbers: "12", "-5"; of parse_number() also "0.5" and "1e-3", always finite. Nothing for
/// any other text: no blanks, no '+', no hexadecimal, and no 010, which some take for 8.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_natural(std::string_view text);
std::optional<double> parse_number(std::string_view text);

/// Each parser takes a number with its unit ("30ms", "1.5 s", "64KiB", "100Mbit"). For other text,
/// a negative number or an overflow it returns nothing. Time: ns us ms s min h, up to time_max.
/// Bytes: B kB KB MB GB KiB MiB GiB; k, K, M and G are binary, and a bare number counts bytes.
/// Rates (bits per second): bit kbit Mbit Gbit, also written with "/s" behind; never 0.
std::optional<Nanos> parse_time(std::string_view text);
std::optional<std::uint64_t> parse_bytes(std::string_view text);
std::optional<double> parse_bits_per_second(std::string_view text);

/// What was expected instead of `text`, which parse_time() does not take: "a time such as 30ms".
std::string_view expected_time(std::string_view text);

/// The shortest exact form that the parser above reads back to the same value: "30ms", "1500us".
std::string format_time(Nanos span);
std::string format_bytes(std::uint64_t bytes);
std::string format_bits_per_second(double rate);

}  // namespace base
