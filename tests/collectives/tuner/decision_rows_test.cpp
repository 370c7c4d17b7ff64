// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/decision_rows_test.cpp — rows of decision tables: made from the result of
// a search, or pinned by the user.
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

TEST_CASE("decision rows: a row has the evidence of its first measured size") {
  const base::Nanos ms(1'000'000);
  const tuner::Table table{
      .choices = {{.bytes = 8, .family = "recursive_doubling", .predicted = ms},
                  {.bytes = 64,
                   .family = "recursive_doubling",
                   .predicted = 2 * ms,
                   .measured = 3 * ms,
                   .evidence = {.chosen = tuner::Configuration{1, 2},
                                .sampled = {{{1, 2}, {3 * ms, 4 * ms, 5 * ms}, 3 * ms}},
                                .runs = 7},
                   .next = "ring",
                   .next_measured = 6 * ms},
                  {.bytes = 512, .family = "tree:shape=chain", .length = 128}},
      .rows = {{200, "recursive_doubling", 0}, {tuner::any_size, "tree:shape=chain", 128}}};
  const auto decisions = tuner::decisions_of(table);
  CHECK(text_of(decisions) == "200 recursive_doubling 0; inf tree:shape=chain 128");
  CHECK(!decisions[0].length);  // the algorithm has no messages to shorten
  const tuner::Evidence& why = decisions[0].why;
  CHECK(why.time == 3 * ms);
  CHECK(why.predicted == 2 * ms);
  CHECK(why.runs == 7);
  CHECK(why.next == "ring");
  CHECK(why.next_time == 6 * ms);
  CHECK(why.spread == Approx(100.0 / 3));
  CHECK(decisions[1].why.time == base::Nanos(0));
  CHECK(tuner::rows_before(decisions) == table.rows);
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

TEST_CASE("decision rows: the note tells that a larger size took less time") {
  const base::Nanos ms(1'000'000);
  for (const bool is_from_larger : {false, true}) {
    const tuner::Table table{.choices = {{.bytes = 8,
                                          .family = "recursive_doubling",
                                          .measured = ms,
                                          .is_from_larger = is_from_larger}},
                             .rows = {{tuner::any_size, "recursive_doubling", 0}}};
    const std::string note = is_from_larger ? "taken because a larger size took less time" : "";
    CHECK(tuner::decisions_of(table).front().note == note);
  }
}
