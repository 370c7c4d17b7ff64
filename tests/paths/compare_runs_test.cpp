// SPDX-License-Identifier: Apache-2.0
// tests/paths/compare_runs_test.cpp — comparisons of whole runs that differ in known ways.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "eventspace/analysis/report/compare.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using namespace std::chrono_literals;
using eventspace::Comparison;
using test_support::TracedRun;

struct Settings {
  std::string latency = "10ms";
  std::int64_t computing_nanos = 5'000'000;
  int iterations = 200;
};

TracedRun run_with(const Settings& settings) {
  return {fmt::format(R"(
clusters: {{alpha: {{hosts: 2, threads: 2}}, beta: {{hosts: 1, threads: 2}}}}
links: [{{between: [alpha, beta], latency: {}}}]
collectives: {{sum: {{operation: sum, template: f64, algorithm: magpie}}}}
)",
                      settings.latency),
          [=](paths::Thread& thread) {
            for (int i = 0; i < settings.iterations; ++i) {
              const std::int64_t varies = static_cast<std::int64_t>(thread.random().below(100'000));
              thread.sleep_for(base::Nanos(settings.computing_nanos + varies));
              thread.path("sum").move_value(1.0);
            }
          }};
}

Comparison compared(const Settings& before, const Settings& after) {
  return eventspace::compare(run_with(before).report().report, run_with(after).report().report);
}

}  // namespace

TEST_CASE("compared runs: the parts of the difference add up to the difference of the runs") {
  const Settings after =
      GENERATE(Settings{.latency = "14ms"}, Settings{.computing_nanos = 9'000'000},
               Settings{.iterations = 150}, Settings{});
  const Comparison comparison = compared({}, after);
  std::int64_t sum = 0;
  std::int64_t outside_of_threads = 0;
  for (const auto& part : comparison.run.parts) {
    sum += part.change();
    if (part.text.starts_with("before threads began")) outside_of_threads += part.after_nanos;
  }
  CHECK(sum == comparison.run.change());
  // All threads live as long as the run. The changes in their time therefore explain nearly all of
  // the change of the run.
  CHECK(std::abs(outside_of_threads) <= comparison.run.after_nanos / 100);
  CHECK(comparison.run.before_nanos > 0);
}

TEST_CASE("compared runs: what changed is the first part, and the iteration shows how much") {
  SECTION("a link") {
    const Comparison comparison = compared({}, {.latency = "14ms"});
    CHECK(comparison.run.parts.front().text == "on the way over the link");
    REQUIRE(comparison.run.iteration);
    // The change of 4 ms counts twice, because a request for a value crosses the link before the
    // value does.
    CHECK(comparison.run.iteration->low <= 8e6);
    CHECK(comparison.run.iteration->high >= 8e6);
    CHECK(comparison.run.iteration->is_one);
  }
  SECTION("computing") {
    const Comparison comparison =
        compared({.latency = "1ms"}, {.latency = "1ms", .computing_nanos = 9'000'000});
    CHECK(comparison.run.parts.front().text == "computing");
    REQUIRE(comparison.run.iteration);
    CHECK(comparison.run.iteration->is_one);
    const std::string text = to_text(comparison);
    CHECK_THAT(text, Catch::Contains("6 figures of computation changed alike"));
  }
}

TEST_CASE("compared runs: a run is slower only above the given share, and not by chance") {
  const Comparison slower = compared({}, {.latency = "11ms"});
  REQUIRE(slower.run.iteration);
  const double share = slower.run.iteration->change() / slower.run.iteration->before;
  CHECK(is_slower(slower, 0) == true);
  CHECK(is_slower(slower, share - 0.001) == true);
  CHECK(is_slower(slower, share + 0.001) == false);
  CHECK(is_slower(compared({}, {}), 0) == false);
  CHECK(is_slower(compared({.latency = "11ms"}, {}), 0) == false);
  CHECK(is_slower(compared({}, {.iterations = 3}), 0) == std::nullopt);
}

TEST_CASE("compared runs: without a difference no parts are printed") {
  const std::string text = to_text(compared({}, {}));
  CHECK_THAT(text, Catch::Contains("this may be chance"));
  CHECK_THAT(text, !Catch::Contains("How the difference divides"));
}
