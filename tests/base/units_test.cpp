// SPDX-License-Identifier: Apache-2.0
// tests/base/units_test.cpp — times, sizes and rates as people write them.
#include "base/units.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

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

TEST_CASE("units: what is not a number with a known unit is nothing") {
  for (const char* text : {"", "30", "ms", "-1ms", "+1ms", "1e3ms", ".5s", "5.s", " 1s", "1s ",
                           "1 s s", "1m", "1MS", "nan s", "infs", "0x1s", "1,5s", "1\ts"}) {
    CAPTURE(text);
    CHECK_FALSE(base::parse_time(text));
    CHECK_FALSE(base::parse_bytes(text));
    CHECK_FALSE(base::parse_bits_per_second(text));
  }
}

TEST_CASE("units: what does not fit is nothing") {
  CHECK(base::parse_time("9223372036854775807ns") == Nanos::max());
  CHECK_FALSE(base::parse_time("9223372036854775808ns"));
  CHECK_FALSE(base::parse_time("9223372036854775807.5ns"));
  CHECK_FALSE(base::parse_time("3000000h"));
  CHECK_FALSE(base::parse_time("99999999999999999999999h"));
  CHECK(base::parse_bytes("18446744073709551615B") == uint64_max);
  CHECK_FALSE(base::parse_bytes("18446744073709551615KiB"));
  CHECK_FALSE(base::parse_bits_per_second(std::string(400, '9') + "bit"));
}

TEST_CASE("units: a size is whole bytes") {
  CHECK(base::parse_bytes("64KiB") == 65536u);
  CHECK(base::parse_bytes("1.5 KiB") == 1536u);
  CHECK(base::parse_bytes("2MB") == 2'000'000u);
  CHECK(base::parse_bytes("1GiB") == 1u << 30);
  CHECK_FALSE(base::parse_bytes("0.5B"));
  CHECK_FALSE(base::parse_bytes("1.0005KB"));
}

TEST_CASE("units: a rate is bits per second, with or without saying so") {
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

TEST_CASE("units: every value prints as what reads back to the same value") {
  const std::uint64_t seed = Catch::rngSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random() >> random() % 64;
    const auto scale = static_cast<std::uint64_t>(std::pow(10, random() % 10));
    const std::uint64_t value = bits / scale * scale;
    CAPTURE(value);
    const Nanos span(static_cast<std::int64_t>(value >> 1));
    REQUIRE(base::parse_time(base::format_time(span)) == span);
    REQUIRE(base::parse_bytes(base::format_bytes(value)) == value);
    const double rate = static_cast<double>(value) / static_cast<double>(random() % 1000 + 1);
    REQUIRE(base::parse_bits_per_second(base::format_bits_per_second(rate)) == rate);
  }
  for (const double rate : {1e300, 1e-300, 0.1, 1e9 / 3, 5e-324}) {
    CHECK(base::parse_bits_per_second(base::format_bits_per_second(rate)) == rate);
  }
}
