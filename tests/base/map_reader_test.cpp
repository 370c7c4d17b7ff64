// SPDX-License-Identifier: Apache-2.0
// tests/base/map_reader_test.cpp — typed values from maps of settings, and reports of all mistakes.
#include <catch2/catch.hpp>
#include <limits>

#include "base/settings.hpp"
#include "tests/support/thrown.hpp"

using namespace std::chrono_literals;
using base::MapReader;
using base::Mistakes;
using base::Settings;
using Catch::Contains;

namespace {

constexpr double number_max = std::numeric_limits<double>::max();
constexpr std::int64_t integer_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t integer_max = std::numeric_limits<std::int64_t>::max();

/// Reads `text` as a map named "cluster alpha" and returns the text of its mistakes.
template <class Read>
std::string mistakes_of(std::string_view text, Read read) {
  Mistakes mistakes;
  MapReader reader(base::parse_settings(text, "f"), mistakes, "cluster alpha");
  read(reader);
  reader.finish();
  return test_support::thrown<base::ConfigError>([&] { mistakes.throw_if_any(); });
}

}  // namespace

TEST_CASE("map reader: each getter returns the value in the file") {
  const std::string mistakes = mistakes_of(
      "word: hello\nchoice: tcp\nflag: true\ninteger: -5\nnumber: 1.5e3\ntime: 30ms\n"
      "bytes: 64KiB\nrate: 100Mbit\nunlimited: unlimited\nwords: [a, b]\none: a\nraw: {x: 1}\n",
      [](MapReader& reader) {
        CHECK(reader.word("word", "x") == "hello");
        CHECK(reader.choice("choice", {"tcp", "quic"}, "quic") == "tcp");
        CHECK(reader.flag("flag", false));
        CHECK(reader.integer("integer", 0, -10, 10) == -5);
        CHECK(reader.number("number", 0, 0, 1e6) == 1500);
        CHECK(reader.time("time", 0ns) == base::Nanos(30ms));
        CHECK(reader.bytes("bytes", 0) == 65536);
        CHECK(reader.bits_per_second("rate", 0) == 1e8);
        CHECK(reader.bits_per_second("unlimited", 5) == 0);
        CHECK(reader.words("words") == std::vector<std::string>{"a", "b"});
        CHECK(reader.words("one") == std::vector<std::string>{"a"});
        CHECK(reader.take("raw").find("x")->text() == "1");
        CHECK(reader.required_word("word", "a name") == "hello");
        CHECK(reader.has("raw"));
      });
  CHECK(mistakes == "nothing");
}

TEST_CASE("map reader: each getter returns its default if the key is absent") {
  const std::string mistakes = mistakes_of("{}", [](MapReader& reader) {
    CHECK(reader.word("a", "x") == "x");
    CHECK_FALSE(reader.word("a"));
    CHECK(reader.choice("a", {"x", "y"}, "y") == "y");
    CHECK(reader.flag("a", true));
    CHECK(reader.integer("a", 7, 0, 9) == 7);
    CHECK(reader.number("a", 0.5, 0, 1) == 0.5);
    CHECK(reader.time("a", 5ms) == base::Nanos(5ms));
    CHECK_FALSE(reader.time("a"));
    CHECK(reader.bytes("a", 9) == 9);
    CHECK(reader.bits_per_second("a", 3) == 3);
    CHECK(reader.words("a").empty());
    CHECK(reader.take("a").is_null());
    CHECK_FALSE(reader.has("a"));
  });
  CHECK(mistakes == "nothing");
}

TEST_CASE("map reader: a wrong value is a mistake at its position and the default is returned") {
  const std::string mistakes = mistakes_of(
      "latency: fast\nsize: 64kb\nrate: 3\nflag: yes\ncount: 0\nloss: 1.5\nname: [a]\nwords: {}\n",
      [](MapReader& reader) {
        CHECK(reader.time("latency", 1ms) == base::Nanos(1ms));
        CHECK(reader.bytes("size", 1) == 1);
        CHECK(reader.bits_per_second("rate", 2) == 2);
        CHECK_FALSE(reader.flag("flag", false));
        CHECK(reader.integer("count", 3, 1, integer_max) == 3);
        CHECK(reader.number("loss", 0, 0, 1) == 0);
        CHECK(reader.word("name", "x") == "x");
        CHECK(reader.words("words").empty());
      });
  CHECK(mistakes ==
        "f:1:10: latency: expected a time such as 30ms, found 'fast'\n"
        "f:2:7: size: expected a size such as 64KiB, found '64kb'\n"
        "f:3:7: rate: expected a rate above 0 such as 100Mbit, or unlimited, found '3'\n"
        "f:4:7: flag: expected true or false, found 'yes'\n"
        "f:5:8: count: expected an integer of at least 1, found '0'\n"
        "f:6:7: loss: expected a number from 0 to 1, found '1.5'\n"
        "f:7:7: name: expected a word, found a list of 1\n"
        "f:8:8: words: expected a word or a list of words, found a map");
}

TEST_CASE("map reader: a key without a value is a mistake for every getter") {
  const std::string mistakes = mistakes_of("a:\nb: 1\n", [](MapReader& reader) {
    CHECK(reader.time("a", 1ms) == base::Nanos(1ms));
    CHECK(reader.word("b", "") == "1");
  });
  CHECK_THAT(mistakes, Contains("a: expected a time such as 30ms, found nothing"));
}

TEST_CASE("map reader: a number must be finite and decimal without other characters") {
  for (const char* text : {"nan", "inf", "-inf", "0x10", "1.5x", "1 2", "''", "1e999", "1_000"}) {
    CAPTURE(text);
    const std::string mistakes = mistakes_of(fmt::format("a: {}\n", text), [](MapReader& reader) {
      CHECK(reader.number("a", 4, -number_max, number_max) == 4);
      CHECK(reader.integer("a", 5, integer_min, integer_max) == 5);
    });
    CHECK_THAT(mistakes, Contains("a: expected a number, found"));
    CHECK_THAT(mistakes, Contains("a: expected an integer, found"));
  }
}

TEST_CASE("map reader: an integer has no fraction and fits in 64 bits") {
  for (const char* text : {"1.0", "1e3", "9223372036854775808"}) {
    CAPTURE(text);
    const std::string mistakes = mistakes_of(fmt::format("a: {}\n", text), [](MapReader& reader) {
      CHECK(reader.integer("a", 5, integer_min, 10) == 5);
    });
    CHECK_THAT(mistakes, Contains("a: expected an integer of at most 10, found"));
  }
}

TEST_CASE("map reader: an unknown choice suggests the nearest word") {
  const std::string mistakes = mistakes_of("transport: tpc\n", [](MapReader& reader) {
    CHECK(reader.choice("transport", {"tcp", "quic", "sim"}, "sim") == "sim");
  });
  CHECK(mistakes ==
        "f:1:12: transport: expected tcp, quic or sim, found 'tpc'; did you mean 'tcp'?");
}

TEST_CASE("map reader: a missing required key is a mistake") {
  const std::string mistakes = mistakes_of("b: [1]\n", [](MapReader& reader) {
    CHECK(reader.required_word("a", "the name of a host").empty());
    CHECK(reader.required_word("b", "the name of a host").empty());
    CHECK(reader.take_required("c", "a map of links").is_null());
  });
  CHECK(mistakes ==
        "f:1:1: a: missing in cluster alpha, expected the name of a host\n"
        "f:1:1: c: missing in cluster alpha, expected a map of links\n"
        "f:1:4: b: expected the name of a host, found a list of 1");
}

TEST_CASE("map reader: an unknown key suggests a near match or lists all known keys") {
  const std::string mistakes = mistakes_of("latncy: 1ms\ncolour: red\n", [](MapReader& reader) {
    reader.time("latency", 0ns);
    reader.bytes("size", 0);
    reader.has("size");
  });
  CHECK(mistakes ==
        "f:1:1: unknown key 'latncy' in cluster alpha; did you mean 'latency'?\n"
        "f:2:1: unknown key 'colour' in cluster alpha; expected latency or size");
}

TEST_CASE("map reader: a value that is not a map is one mistake and null is an empty map") {
  CHECK(mistakes_of("[1, 2]", [](MapReader& reader) { reader.required_word("a", "a name"); }) ==
        "f:1:1: cluster alpha: expected a map, found a list of 2");
  Mistakes mistakes;
  MapReader reader(Settings(), mistakes, "nothing");
  CHECK(reader.integer("a", 3, 0, 9) == 3);
  reader.finish();
  CHECK(mistakes.empty());
}

TEST_CASE("map reader: a mistake added by the caller has the position of the key's value") {
  const std::string mistakes = mistakes_of("a: 1\nb: 2\n", [](MapReader& reader) {
    reader.take("a");
    reader.take("b");
    CHECK(reader.position_of("b").text() == "f:2:4");
    CHECK(reader.position_of("z").text() == "f:1:1");
    reader.mistake("b", "expected more than a");
  });
  CHECK(mistakes == "f:2:4: b: expected more than a");
}

TEST_CASE("map reader: a missing call of finish is a bug unless an exception is in flight") {
  base::set_bugs_throw(true);
  Mistakes mistakes;
  const auto forget = [&] { MapReader reader(Settings(), mistakes, "x"); };
  const auto interrupted = [&] {
    MapReader reader(Settings(), mistakes, "x");
    throw std::runtime_error("interrupted");
  };
  CHECK_THROWS_AS(forget(), std::logic_error);
  CHECK_THROWS_WITH(interrupted(), "interrupted");
  base::set_bugs_throw(false);
}

TEST_CASE("map reader: single values are read with the same error texts") {
  Mistakes mistakes;
  CHECK(base::read_time(Settings::scalar("2s"), mistakes, "delay") == base::Nanos(2s));
  CHECK(base::read_number(Settings::scalar("-0.5"), mistakes, "x") == -0.5);
  CHECK(base::read_integer(Settings::scalar("4"), mistakes, "n", 0, 9) == 4);
  CHECK(mistakes.empty());
  CHECK_FALSE(base::read_time(Settings::list({}), mistakes, "delay"));
  CHECK_FALSE(base::read_number(Settings(), mistakes, "x"));
  CHECK_FALSE(base::read_integer(Settings::scalar("12"), mistakes, "n", 0, 9));
  CHECK_THROWS_WITH(mistakes.throw_if_any(),
                    "delay: expected a time such as 30ms, found a list of 0\n"
                    "x: expected a number, found nothing\n"
                    "n: expected an integer from 0 to 9, found '12'");
}
