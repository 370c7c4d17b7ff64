// SPDX-License-Identifier: Apache-2.0
// tests/paths/partial_values_test.cpp — results that cover only some of the contributions.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>

#include "base/usage_error.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace test_support;
using base::Payload;
using paths::Condition;

/// Returns a config with four threads in cluster alpha and two in cluster beta. The condition holds
/// if the sum is below 3. If each thread contributes 1, the sum of alpha's threads is 4, which
/// proves without beta that the condition fails.
std::string partial_config(const std::string& algorithm) {
  return fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: 1, threads: 2}}
links: [{{between: [alpha, beta], latency: 10ms}}]
collectives:
  sum: {{operation: sum, template: f64, algorithm: "{}", condition: {{less: 3}},
        contributions: non_negative}}
elements:
  work: {{host: alpha-0, template: f64, keep_newest: 0, reach: all}}
)",
                     algorithm);
}

}  // namespace

TEST_CASE("partial values: a proved value is refused by every call except partial and bytes") {
  const char* const algorithm =
      GENERATE("conditional", "conditional:push", "conditional:demand", "conditional:subscribe:2");
  const Sim sim(partial_config(algorithm));
  sim.run_well([](paths::Thread& thread) {
    paths::Path& sum = thread.path("sum");
    const paths::Result result = sum.move_value(1.0);
    CHECK(result.condition == Condition::fails);
    CHECK(result.contributors() == 6);
    if (thread.cluster() == "beta") {
      sum.move_value(1.0);
      return;
    }
    CHECK_FALSE(result.is_complete());
    CHECK(result.contributions == 4);
    const std::string words =
        "path sum: this value covers 4 of 6 contributions; decide by `condition`, or call "
        "`partial<T>()`";
    CHECK(mistake_of([&] { result.value<double>(); }) == words);
    CHECK(mistake_of([&] { result.read<double>(); }) == words);
    CHECK(mistake_of([&] { result.values<double>(); }) == words);
    CHECK_THAT(mistake_of([&] { result.payload.read<double>(); }),
               Catch::Contains("this value covers only some of the contributions; decide by "
                               "`condition`, or call `partial<T>()`"));
    CHECK_THAT(mistake_of([&] { thread.path("work").move(result.payload); }),
               Catch::Contains("path work: move of a result that covers only some"));
    CHECK(result.partial<double>() == 4);
    CHECK(mistake_of([&] { result.partial<float>(); }) != "nothing");
    CHECK(result.payload.bytes().size() == sizeof(double));
    double into = 7;
    CHECK_THAT(mistake_of([&] { sum.move(Payload::of(1.0), std::span(&into, 1)); }),
               Catch::Contains("path sum: memory for a result that covers 4 of 6 contributions"));
    CHECK(into == 7);
  });
}

TEST_CASE("partial values: the result of a started move and its copy refuse in the same way") {
  const Sim sim(partial_config("conditional"));
  sim.run_well([](paths::Thread& thread) {
    paths::Started started = thread.path("sum").start(Payload::of(1.0));
    const paths::Result result = started.wait(), copy = result;
    if (thread.cluster() != "alpha") return;
    for (const paths::Result& one : {result, copy}) {
      CHECK_THROWS_AS(one.value<double>(), base::UsageError);
      CHECK(one.partial<double>() == 4);
    }
  });
}

TEST_CASE(
    "partial values: the value of an unchecked round is refused and that of a checked one is "
    "complete") {
  const auto [algorithm, first_exact] =
      GENERATE(table<std::string, int>({{"periodic:3", 2}, {"lagged:2", 2}, {"budget:3,2", 3}}));
  const Sim sim(partial_config(algorithm));
  sim.run_well([first = first_exact](paths::Thread& thread) {
    for (int round = 0; round <= first; ++round) {
      const paths::Result result = thread.path("sum").move_value(1.0);
      CHECK(result.is_complete() == (round == first));
      CHECK((result.condition == Condition::unchecked) == (round < first));
      if (round == first)
        CHECK(result.value<double>() == 6);
      else
        CHECK_THAT(mistake_of([&] { result.value<double>(); }),
                   Catch::Contains("of 6 contributions"));
    }
  });
}

TEST_CASE("partial values: results of exact algorithms and of elements are complete") {
  const std::string algorithm = GENERATE("sequential", "exact", "magpie");
  const Sim sim(partial_config(algorithm));
  sim.run_well([](paths::Thread& thread) {
    CHECK(thread.path("sum").move_value(1.0).value<double>() == 6);
    const paths::Result moved = thread.path("work").move_value(2.0);
    CHECK(moved.is_complete());
    CHECK(moved.value<double>() == 2);
  });
}
