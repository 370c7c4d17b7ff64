// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/decision_rows_test.cpp — joining of choices into rows, and pinned rows.
#include "collectives/tuner/decision_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>

#include "collectives/algorithms/all.hpp"

namespace {

using tuner::Bytes;
using tuner::Decision;

Decision decision(const std::string& use, Bytes length = 0, Bytes up_to = 0) {
  const auto [name, words] = collectives::split_at_colon(use);
  Decision result;
  result.algorithm = &collectives::algorithm_named(name);
  result.parameters = result.algorithm->read(words);
  result.length = length;
  result.up_to = up_to;
  return result;
}

std::string text_of(const std::vector<Decision>& rows) {
  std::vector<std::string> all;
  for (const Decision& row : rows)
    all.push_back(fmt::format("{}{} {} {}", row.is_pinned ? "!" : "",
                              row.up_to == Decision::no_limit ? "inf" : std::to_string(row.up_to),
                              row.use(), row.length.value_or(0)));
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace

TEST_CASE("decision rows: neighbouring sizes with like schedules share a row") {
  CHECK(text_of(tuner::rows_of({{8, decision("recursive_doubling")},
                                {64, decision("recursive_doubling")},
                                {512, decision("tree:shape=chain", 128)},
                                {4096, decision("tree:shape=chain", 256)},
                                {32768, decision("tree:shape=chain", 512)}})) ==
        "181 recursive_doubling 0; 11585 tree:shape=chain 128; inf tree:shape=chain 512");
  CHECK(text_of(tuner::rows_of({{0, decision("recursive_doubling")}})) ==
        "inf recursive_doubling 0");
}

TEST_CASE("decision rows: pinned rows keep their sizes and all others are new") {
  const std::vector<Decision> rows{decision("recursive_doubling", 0, 100),
                                   decision("tree:shape=flat", 0, 1000),
                                   decision("tree:shape=chain", 64, Decision::no_limit)};
  const auto pinned = [&](std::vector<Bytes> limits, std::size_t which) {
    std::vector<Decision> old;
    for (const Bytes limit : limits) old.push_back(decision("rabenseifner", 0, limit));
    old[which].is_pinned = true;
    return text_of(tuner::keep_pinned(old, rows));
  };
  CHECK(pinned({50, Decision::no_limit}, 0) ==
        "!50 rabenseifner 0; 100 recursive_doubling 0; 1000 tree:shape=flat 0; inf "
        "tree:shape=chain 64");
  CHECK(pinned({50, Decision::no_limit}, 1) == "50 recursive_doubling 0; !inf rabenseifner 0");
  CHECK(pinned({200, 500, Decision::no_limit}, 1) ==
        "100 recursive_doubling 0; 200 tree:shape=flat 0; !500 rabenseifner 0; 1000 "
        "tree:shape=flat 0; inf tree:shape=chain 64");
  CHECK(pinned({100, 1000, Decision::no_limit}, 1) ==
        "100 recursive_doubling 0; !1000 rabenseifner 0; inf tree:shape=chain 64");
  CHECK(pinned({Decision::no_limit}, 0) == "!inf rabenseifner 0");
  CHECK(text_of(tuner::keep_pinned({}, rows)) == text_of(rows));
}
