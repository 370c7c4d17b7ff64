// SPDX-License-Identifier: Apache-2.0
// tests/base/near_match_test.cpp — suggestions for misspelt words.
#include "base/near_match.hpp"

#include <catch2/catch.hpp>

TEST_CASE("near match: one typing error is corrected") {
  const std::vector<std::string_view> words = {"latency", "bandwidth", "loss"};
  CHECK(base::near_match("latncy", words) == "latency");
  CHECK(base::near_match("latenccy", words) == "latency");
  CHECK(base::near_match("lantecy", words) == "latency");
  CHECK(base::near_match("Latency", words) == "latency");
  CHECK(base::near_match("BANDWIDTH", words) == "bandwidth");
  CHECK(base::near_match("lsos", words) == "loss");
}

TEST_CASE("near match: a different word has no match") {
  CHECK_FALSE(base::near_match("jitter", {"latency", "bandwidth"}));
  CHECK_FALSE(base::near_match("x", {"y"}));
  CHECK_FALSE(base::near_match("", {"a"}));
  CHECK_FALSE(base::near_match("word", {}));
  CHECK_FALSE(base::near_match("cat", {"dog", "cow"}));
}

TEST_CASE("near match: the closest word wins and the first among equals") {
  CHECK(base::near_match("stages", {"stagers", "stage", "stages"}) == "stages");
  CHECK(base::near_match("ab", {"aa", "bb"}) == "aa");
}

TEST_CASE("near match: a very long word is rejected without delay") {
  CHECK_FALSE(base::near_match(std::string(10'000'000, 'a'), {"a", "latency"}));
}

TEST_CASE("either of: the last two words are joined by or") {
  CHECK(base::either_of({}).empty());
  CHECK(base::either_of({"a"}) == "a");
  CHECK(base::either_of({"a", "b"}) == "a or b");
  CHECK(base::either_of({"a", "b", "c"}) == "a, b or c");
}
