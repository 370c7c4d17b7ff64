// SPDX-License-Identifier: Apache-2.0
// tests/base/link_model/link_trace_test.cpp — valid and invalid recorded link traces.
#include "base/link_model/link_trace.hpp"

#include <catch2/catch.hpp>

#include "tests/support/thrown.hpp"

using namespace std::chrono_literals;

namespace {

std::optional<tuning::LinkModel> read(std::string_view text, double bits_per_second = 0) {
  base::Mistakes mistakes;
  auto model = tuning::parse_link_trace(text, "wan.trace", bits_per_second, mistakes);
  mistakes.throw_if_any();
  return model;
}

std::string wrong(std::string_view text) {
  return test_support::thrown<base::ConfigError>([&] { read(text); });
}

}  // namespace

TEST_CASE("link trace: a line has seconds and a latency in ms and optionally a bandwidth in Mbit") {
  const auto link = read(
      "# recorded between two sites\n"
      "\n"
      "0    9.1   100\r\n"
      "0.5\t12.75  # slower\n"
      "  1.25 10",
      1e9);
  REQUIRE(link);
  CHECK(link->at(0ms).latency == 9'100us);
  CHECK(link->at(0ms).bits_per_second == 100e6);
  CHECK(link->at(500ms).latency == 12'750us);
  // The rate is the default rate, because the line of the trace for this time has no bandwidth.
  CHECK(link->at(500ms).bits_per_second == 1e9);
  CHECK(link->at(1'250ms).latency == 10ms);
}

TEST_CASE(
    "link trace: the last line lasts as long as the one before it and then the trace repeats") {
  const auto link = read("0 1\n1 2\n1.5 3\n");
  REQUIRE(link);
  CHECK(link->at(1'999'999'999ns).latency == 3ms);
  CHECK(link->at(2s).latency == 1ms);
  CHECK(link->at(3s).latency == 2ms);
}

TEST_CASE("link trace: the latency of one direction is half of a recorded round trip") {
  const auto link = read("# from ping\nround_trip  # both ways\n0 27 100\n1 26.5\n", 1e9);
  REQUIRE(link);
  CHECK(link->at(0ms).latency == 13'500us);
  CHECK(link->at(0ms).bits_per_second == 100e6);
  CHECK(link->at(1s).latency == 13'250us);
  CHECK(wrong("0 27\nround_trip\n1 26\n") ==
        "wan.trace:2:1: expected before the first latency, found 'round_trip'");
  CHECK_THAT(wrong("round_trip\n"), Catch::Contains("no line with seconds"));
}

TEST_CASE("link trace: a single line applies forever") {
  CHECK(read("0 7\n")->at(1'000'000s).latency == 7ms);
}

TEST_CASE("link trace: all mistakes are reported at once with line and column") {
  CHECK(wrong("0 9\n0.5 fast\n0.7\n  0.6 -1 0\n0.2 1\n1 2 3 4\n") ==
        "wan.trace:2:5: expected a latency in ms, found 'fast'\n"
        "wan.trace:3:1: expected seconds, latency in ms and perhaps a bandwidth in Mbit, "
        "found one number\n"
        "wan.trace:4:7: expected a latency in ms, found '-1'\n"
        "wan.trace:4:10: the bandwidth is 0: nothing would ever arrive\n"
        "wan.trace:6:1: expected seconds, latency in ms and perhaps a bandwidth in Mbit, "
        "found 4");
}

TEST_CASE("link trace: times must begin at 0 and increase") {
  CHECK(wrong("0.1 9\n") == "wan.trace:1:1: expected 0 on the first line, found '0.1'");
  CHECK(wrong("0 9\n2 9\n2 9\n") ==
        "wan.trace:3:1: expected a later time than 2s of the line before, found '2'");
  CHECK(wrong("0 9\n1e300 9\n") == "wan.trace:2:1: expected seconds from the start, found '1e300'");
  CHECK(wrong("0 nan\n") == "wan.trace:1:3: expected a latency in ms, found 'nan'");
}

TEST_CASE("link trace: a trace without lines is an error") {
  const std::string expected =
      "no line with seconds, latency in ms and perhaps a bandwidth in Mbit";
  CHECK_THAT(wrong(""), Catch::Contains(expected));
  CHECK_THAT(wrong("# nothing\n\n"), Catch::Contains("wan.trace:2"));
}
