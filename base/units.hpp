// SPDX-License-Identifier: Apache-2.0
// base/units.hpp — time spans, byte counts and rates as people write them.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// Every span and every point in time of this project: whole nanoseconds.
using Nanos = std::chrono::nanoseconds;

/// Each parser takes a number with its unit ("30ms", "1.5 s", "64KiB", "100Mbit") and answers
/// nothing when the text is not one: no bare numbers, no negative ones, no overflow.
/// Time: ns us ms s min h. Bytes: B KB MB GB KiB MiB GiB. Rates (bits per second): bit kbit Mbit
/// Gbit, also written with "/s" behind.
std::optional<Nanos> parse_time(std::string_view text);
std::optional<std::uint64_t> parse_bytes(std::string_view text);
std::optional<double> parse_bits_per_second(std::string_view text);

/// The shortest exact form that the parser above reads back to the same value: "30ms", "1500us".
std::string format_time(Nanos span);
std::string format_bytes(std::uint64_t bytes);
std::string format_bits_per_second(double rate);

}  // namespace base
