// SPDX-License-Identifier: Apache-2.0
// tests/base/units_test.cpp — times, sizes and rates as text: reading and printing.
#include "base/units.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>

using namespace std::chrono_literals;
using base::Nanos;

namespace {

constexpr auto uint64_max = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("units: a time is a number with a unit") {
  CHECK(base::parse_time("30ms") == Nanos(30ms));
  CHECK(base::parse_time("1.5ms") == Nanos(1500us));
  CHECK(base::parse_time("1.5 s") == Nanos(1500ms));
  CHECK(base::parse_time("2min") == Nanos(120s));
  CHECK(base::parse_time("0.1h") == Nanos(6min));
  CHECK(base::parse_time("0ns") == Nanos(0));
  CHECK(base::parse_time("0.000000001s") == Nanos(1));
  CHECK(base::parse_time("1.10000000000000000000000s") == Nanos(1100ms));
}

TEST_CASE("units: a time is rounded to the nearest nanosecond") {
  CHECK(base::parse_time("1.4ns") == Nanos(1));
  CHECK(base::parse_time("1.5ns") == Nanos(2));
  CHECK(base::parse_time("0.4999ns") == Nanos(0));
}

TEST_CASE("units: a text that is not a number with a known unit is rejected") {
  for (const char* text : {"",     "30",   "ms",    "-1ms",  "+1ms",  "1e3ms",  ".5s",  "5.s",
                           " 1s",  "1s ",  "1 s s", "1m",    "1MS",   "nan s",  "infs", "0x1s",
                           "1,5s", "1\ts", "010s",  "00.5s", "010MB", "010Mbit"}) {
    CAPTURE(text);
    CHECK_FALSE(base::parse_time(text));
    if (std::string_view(text) != "30") CHECK_FALSE(base::parse_bytes(text));
    CHECK_FALSE(base::parse_bits_per_second(text));
  }
}

TEST_CASE(
    "units: each quantity accepts its smallest and largest value and a meaningful zero and nothing "
    "beyond") {
  struct Time {
    const char* text;
    std::optional<Nanos> time;
  };
  for (const auto& [text, time] : std::initializer_list<Time>{
           {"0ns", 0ns},
           {"0.0h", 0ns},
           {"1ns", 1ns},
           {"0.000000001s", 1ns},
           {"1000000000s", base::time_max},
           {"1000000000000000000ns", base::time_max},
           {"1000000000000000000.4ns", base::time_max},
           {"1000000000000000000.5ns", std::nullopt},
           {"1000000000000000001ns", std::nullopt},
           {"1000000000.000000001s", std::nullopt},
           {"277778h", std::nullopt},
           {"9223372036s", std::nullopt},
           {"9223372036854775807ns", std::nullopt},
           {"9223372036854775808ns", std::nullopt},
           {"18446744073709551615h", std::nullopt},
           {"18446744073709551616ns", std::nullopt},
           {"99999999999999999999999h", std::nullopt},
       }) {
    CAPTURE(text);
    CHECK(base::parse_time(text) == time);
  }
  struct Bytes {
    const char* text;
    std::optional<std::uint64_t> bytes;
  };
  for (const auto& [text, bytes] : std::initializer_list<Bytes>{
           {"0B", 0},
           {"0GiB", 0},
           {"1B", 1},
           {"18446744073709551615B", uint64_max},
           {"18446744073709551616B", std::nullopt},
           {"17179869183GiB", uint64_max - (1u << 30) + 1},
           {"17179869184GiB", std::nullopt},
           {"18446744073709551615KiB", std::nullopt},
       }) {
    CAPTURE(text);
    CHECK(base::parse_bytes(text) == bytes);
  }
  struct Rate {
    std::string text;
    std::optional<double> rate;
  };
  const std::string zeros(400, '0');
  for (const auto& [text, rate] : std::initializer_list<Rate>{
           {"0Mbit", std::nullopt},
           {"0.0bit", std::nullopt},
           {"0." + zeros + "1bit", std::nullopt},
           {"0.5bit", 0.5},
           {"1bit", 1.0},
           {"1" + zeros.substr(0, 308) + "bit", 1e308},
           {"1" + zeros.substr(0, 308) + "kbit", std::nullopt},
           {"1" + zeros + "bit", std::nullopt},
       }) {
    CAPTURE(text);
    CHECK(base::parse_bits_per_second(text) == rate);
  }
}

TEST_CASE("units: a plain number has the same meaning in every parser") {
  struct Number {
    std::string text;
    std::optional<std::int64_t> integer;
    std::optional<std::uint64_t> natural;
    std::optional<double> number;
  };
  constexpr auto none = std::nullopt;
  for (const auto& [text, integer, natural, number] : std::initializer_list<Number>{
           {"0", 0, 0, 0.0},
           {"1", 1, 1, 1.0},
           {"-1", -1, none, -1.0},
           {"10", 10, 10, 10.0},
           {"9223372036854775807", INT64_MAX, INT64_MAX, 0x1p63},
           {"9223372036854775808", none, 0x1p63, 0x1p63},
           {"-9223372036854775808", INT64_MIN, none, -0x1p63},
           {"-9223372036854775809", none, none, -0x1p63},
           {"18446744073709551615", none, uint64_max, 0x1p64},
           {"18446744073709551616", none, none, 0x1p64},
           {"0.5", none, none, 0.5},
           {"1e3", none, none, 1e3},
           {"1e308", none, none, 1e308},
           {"1e309", none, none, none},
           {"010", none, none, none},
           {"-010", none, none, none},
           {"00", none, none, none},
           {"0x10", none, none, none},
           {"0x", none, none, none},
           {"0b1", none, none, none},
           {"+5", none, none, none},
           {"--5", none, none, none},
           {"-", none, none, none},
           {"", none, none, none},
           {" 5", none, none, none},
           {"5 ", none, none, none},
           {"5\n", none, none, none},
           {"1'000", none, none, none},
           {"1_000", none, none, none},
           {"1,5", none, none, none},
           {"nan", none, none, none},
           {"-nan", none, none, none},
           {"inf", none, none, none},
           {"infinity", none, none, none},
           {std::string("5\0", 2), none, none, none},
           {"\xd9\xa5", none, none, none},
       }) {
    CAPTURE(text);
    CHECK(base::parse_integer(text) == integer);
    CHECK(base::parse_natural(text) == natural);
    CHECK(base::parse_number(text) == number);
  }
}

TEST_CASE("units: the expected text distinguishes a time that is too long from an invalid one") {
  CHECK(base::expected_time("30") == "a time such as 30ms");
  CHECK(base::expected_time("1000000001s") == "a time of at most 1000000000s, about 30 years");
}

TEST_CASE("units: a size is whole bytes") {
  CHECK(base::parse_bytes("64KiB") == 65536u);
  CHECK(base::parse_bytes("1.5 KiB") == 1536u);
  CHECK(base::parse_bytes("2MB") == 2'000'000u);
  CHECK(base::parse_bytes("1GiB") == 1u << 30);
  CHECK_FALSE(base::parse_bytes("0.5B"));
  CHECK_FALSE(base::parse_bytes("1.0005KB"));
}

TEST_CASE("units: a size accepts every common unit of bytes and no other") {
  const std::uint64_t kibi = 1 << 10, mebi = 1 << 20, gibi = 1 << 30;
  const std::map<std::string, std::uint64_t> bytes_of_units = {
      {"", 1},         {"B", 1},           {"kB", 1'000}, {"KB", 1'000},
      {"MB", 1000000}, {"GB", 1000000000}, {"KiB", kibi}, {"MiB", mebi},
      {"GiB", gibi},   {"k", kibi},        {"K", kibi},   {"M", mebi},
      {"G", gibi}};
  for (const auto& [unit, bytes] : bytes_of_units) {
    CAPTURE(unit);
    CHECK(base::parse_bytes("1" + unit) == bytes);
    CHECK(base::parse_bytes("64" + unit) == 64 * bytes);
    if (!unit.empty()) CHECK(base::parse_bytes("64 " + unit) == 64 * bytes);
    if (bytes > 1) CHECK(base::parse_bytes("1.5" + unit) == 3 * bytes / 2);
    CHECK_FALSE(base::parse_bytes(unit));
  }
  // These units are refused. Many people read the first five as bits.
  for (const std::string unit :
       {"b", "kb", "Kb", "mb", "kbit", "kiB", "kib", "m", "g", "T", "TiB", "bytes"}) {
    CAPTURE(unit);
    CHECK_FALSE(base::parse_bytes("1" + unit));
  }
}

TEST_CASE("units: a size without a unit counts bytes") {
  CHECK(base::parse_bytes("0") == 0u);
  CHECK(base::parse_bytes("8") == 8u);
  CHECK(base::parse_bytes("18446744073709551615") == uint64_max);
  for (const char* text : {"8 ", "18446744073709551616", "1.5", "-8", "08"}) {
    CAPTURE(text);
    CHECK_FALSE(base::parse_bytes(text));
  }
}

TEST_CASE("units: a rate is in bits per second with or without the suffix") {
  CHECK(base::parse_bits_per_second("100Mbit") == 1e8);
  CHECK(base::parse_bits_per_second("100 Mbit/s") == 1e8);
  CHECK(base::parse_bits_per_second("0.1Gbit") == 1e8);
  CHECK(base::parse_bits_per_second("0.3kbit") == 300.0);
  CHECK_FALSE(base::parse_bits_per_second("100Mbit/h"));
  CHECK_FALSE(base::parse_bits_per_second("100MB"));
}

TEST_CASE("units: values print in the unit that is shortest without a fraction") {
  CHECK(base::format_time(30ms) == "30ms");
  CHECK(base::format_time(1500us) == "1500us");
  CHECK(base::format_time(1ns) == "1ns");
  CHECK(base::format_time(0ns) == "0ns");
  CHECK(base::format_time(2h) == "2h");
  CHECK(base::format_time(-5ms) == "-5ms");
  CHECK(base::format_time(Nanos::min()) == "-9223372036854775808ns");
  CHECK(base::format_bytes(65536) == "64KiB");
  CHECK(base::format_bytes(64000) == "64KB");
  CHECK(base::format_bytes(0) == "0B");
  CHECK(base::format_bytes(1537) == "1537B");
  CHECK(base::format_bits_per_second(1e8) == "100Mbit");
  CHECK(base::format_bits_per_second(1.5e6) == "1500kbit");
  CHECK(base::format_bits_per_second(0.25) == "0.25bit");
  CHECK(base::format_bits_per_second(0) == "0bit");
}

TEST_CASE("units: every printed value reads back as the same value") {
  const std::uint64_t seed = Catch::rngSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random() >> random() % 64;
    const auto scale = static_cast<std::uint64_t>(std::pow(10, random() % 10));
    const std::uint64_t value = bits / scale * scale;
    CAPTURE(value);
    const Nanos span(static_cast<std::int64_t>(value % base::time_max.count()));
    REQUIRE(base::parse_time(base::format_time(span)) == span);
    REQUIRE(base::parse_bytes(base::format_bytes(value)) == value);
    const double rate = static_cast<double>(value + 1) / static_cast<double>(random() % 1000 + 1);
    REQUIRE(base::parse_bits_per_second(base::format_bits_per_second(rate)) == rate);
  }
  for (const double rate : {1e300, 1e-300, 0.1, 1e9 / 3, 5e-324}) {
    CHECK(base::parse_bits_per_second(base::format_bits_per_second(rate)) == rate);
  }
}
