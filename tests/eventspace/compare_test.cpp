// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/compare_test.cpp — comparison of two runs that differ in known ways.
#include "eventspace/analysis/report/compare.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "eventspace/analysis/analysis.hpp"
#include "runtime/random.hpp"
#include "tests/eventspace/sample_run.hpp"

namespace {

using namespace eventspace;
using sample::ms;
using sample::us;

/// Returns an approximately normally distributed time with a deviation of 0.15 ms. The time is
/// computed as the sum of four uniform random numbers.
std::int64_t natural(std::uint64_t seed, std::uint32_t thread, std::uint64_t iteration) {
  runtime::Random random(seed << 20 | thread, iteration);
  const double sum = random.unit() + random.unit() + random.unit() + random.unit() - 2;
  return static_cast<std::int64_t>(sum * std::sqrt(3.0) * 150 * us);
}

Report run(sample::Options options, std::uint64_t seed, std::uint64_t rounds = 600) {
  options.jitter = [seed](std::uint32_t thread, std::uint64_t iteration) {
    return natural(seed, thread, iteration);
  };
  runtime::Random random(seed);
  for (sample::Noise& noise : options.noise)
    noise.first_nanos = random.between(0, noise.period_nanos);
  sample::Run made(std::move(options));
  return sample::analyse_rounds(made, rounds);
}

const Difference* find(const Comparison& comparison, const std::string& figure,
                       const std::string& what) {
  for (const Difference& one : comparison.figures)
    if (one.figure == figure && one.what == what) return &one;
  return nullptr;
}

}  // namespace

TEST_CASE("compare: runs that differ by their seed show no difference in 95 of 100 pairs") {
  const char* given = std::getenv("PATHS_SEEDS");
  const std::uint64_t pairs = given != nullptr ? std::strtoull(given, nullptr, 10) : 100;
  std::uint64_t wrong = 0;
  std::string why;
  for (std::uint64_t pair = 1; pair <= pairs; ++pair) {
    sample::Options options;
    if (pair % 2 == 0)
      options.noise = {{.thread = 11, .nanos = 5 * ms, .period_nanos = 97 * ms, .first_nanos = 0}};
    const Comparison comparison = compare(run(options, 2 * pair), run(options, 2 * pair + 1));
    REQUIRE(comparison.figures.size() > 40);
    if (comparison.differences == 0) continue;
    ++wrong;
    why += "pair " + std::to_string(pair) + ": " + to_text(comparison, 3);
  }
  INFO(wrong << " of " << pairs << " pairs\n" << why);
  CHECK(wrong * 20 <= pairs);
}

TEST_CASE("compare: a change is a difference whose interval contains it") {
  sample::Options options;
  const Report before = run(options, 1);
  options.slow_hosts = {{"beta-2", 1.02}};
  options.slow_links = {{"wan.beta.alpha", 1.1}};
  const Comparison comparison = compare(before, run(options, 2));
  INFO(to_text(comparison));
  const Difference* slow = find(comparison, "computation", "beta-2/0 before sum");
  REQUIRE(slow != nullptr);
  CHECK(slow->is_one);
  CHECK(slow->low <= 0.6 * ms);
  CHECK(slow->high >= 0.6 * ms);
  CHECK(slow->high - slow->low < 0.2 * ms);
  const Difference* other = find(comparison, "computation", "beta-1/0 before sum");
  REQUIRE(other != nullptr);
  CHECK_FALSE(other->is_one);
  const Difference* link = find(comparison, "travel", "wan.beta.alpha");
  REQUIRE(link != nullptr);
  CHECK(link->is_one);
  CHECK(link->change() == Approx(0.5 * ms));
  const Difference* iteration = find(comparison, "iteration", "sum");
  REQUIRE(iteration != nullptr);
  CHECK(iteration->is_one);
}

TEST_CASE("compare: means equal those of the report including the last rounds") {
  // With 300 rounds, a row in the report is the sum of two rounds. With 601 rounds, a row is the
  // sum of four rounds, and the last row has only one round. In this run the last round is the
  // longest.
  for (const std::uint64_t rounds : {300, 601}) {
    sample::Options options;
    options.jitter = [rounds](std::uint32_t, std::uint64_t iteration) -> std::int64_t {
      return iteration + 1 == rounds ? 7'000 * ms : 0;
    };
    sample::Run made(options);
    const Report report = sample::analyse_rounds(made, rounds);
    const Comparison comparison = compare(report, report);
    const Difference* iteration = find(comparison, "iteration", "sum");
    REQUIRE(iteration != nullptr);
    CHECK(iteration->before == Approx(report.critical.at(0).iteration.mean).epsilon(1e-12));
    CHECK(iteration->before > 50.0 * ms);
    // One very long round makes the uncertainty of the difference large.
    CHECK(iteration->low < -9.0 * ms);
    const Difference* thread =
        find(comparison, "computation", report.threads[3].name + " before sum");
    REQUIRE(thread != nullptr);
    CHECK(thread->before == Approx(report.threads[3].computation.mean).epsilon(1e-12));
  }
}

TEST_CASE("compare: the spread of departures from a join is compared") {
  sample::Options options;
  const Report before = run(options, 1);
  options.late_replies = {{"sum.join.beta", 2 * ms}};
  const Comparison comparison = compare(before, run(options, 1));
  const Difference* spread = find(comparison, "departure spread", "sum.join.beta on beta-0");
  REQUIRE(spread != nullptr);
  CHECK(spread->is_one);
  CHECK(spread->change() == Approx(2.0 * ms));
}

TEST_CASE("compare: a change below half a percent is not a difference") {
  sample::Options options;
  const Report before = run(options, 1);
  options.slow_links = {{"wan.beta.alpha", 1.004}};
  const Comparison comparison = compare(before, run(options, 1));
  const Difference* link = find(comparison, "travel", "wan.beta.alpha");
  REQUIRE(link != nullptr);
  CHECK(link->low > 0);
  CHECK_FALSE(link->is_one);
}

TEST_CASE("compare: figures of only one run or of too few rounds are reported as such") {
  sample::Options options;
  const Report small = run(options, 1);
  options.clusters = {"alpha", "beta", "gamma"};
  const Comparison comparison = compare(small, run(options, 1));
  CHECK(comparison.only_before.empty());
  CHECK(comparison.only_after.size() > 10);
  const Comparison brief = compare(small, run(sample::Options{}, 2, 10));
  CHECK(brief.figures.empty());
  CHECK(brief.too_short.size() > 40);
  CHECK(to_text(brief).find("too few rounds") != std::string::npos);
  CHECK(to_text(brief).find("No figures were compared") != std::string::npos);
}

TEST_CASE("compare: equal runs give equal text and JSON") {
  const Report before = run(sample::Options{}, 1);
  const Report after = run(sample::Options{}, 2);
  CHECK(to_json(compare(before, after)) == to_json(compare(before, after)));
  const auto json = to_json(compare(before, after));
  CHECK(json["figures"][0].contains("interval_nanos"));
  CHECK(json["differences"] == 0);
}
