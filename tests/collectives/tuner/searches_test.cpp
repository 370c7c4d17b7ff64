// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/searches_test.cpp — searches on curves with known times.
#include <algorithm>
#include <catch2/catch.hpp>

#include "collectives/tuner/search.hpp"
#include "tests/collectives/tuner/curves.hpp"

using namespace tuner;
using base::Nanos;

namespace {

/// Returns four curves of 15 lengths of segments, from 128 KiB to 8 B. The least time is 2, at 1
/// KiB in the first curve.
std::vector<Curve> four_curves() {
  std::vector<Curve> curves{{9, 8, 7, 6, 5, 4, 3, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5},
                            {30, 22, 16, 12, 9, 7, 5, 4, 3, 3.2, 3.5, 4, 6, 8, 10},
                            {40, 30, 22, 17, 13, 11, 10, 9.5, 9.2, 9.1, 9.05, 9.02, 9.01, 9, 8.9},
                            {20, 18, 16, 14, 12, 10, 8, 6, 5.5, 5.2, 5.4, 5.6, 5.8, 6, 6.2}};
  for (Curve& curve : curves) std::reverse(curve.begin(), curve.end());
  return curves;
}
constexpr Configuration least_of_four{0, 7};

Options exact(Options options = {}) {
  options.is_exact = true;
  return options;
}

Outcome choose(const std::string& search, const Space& space, const Options& options = exact()) {
  const Search* found = search_named(search);
  REQUIRE(found != nullptr);
  return found->choose(space, exact_runs(space), options);
}

std::vector<std::size_t> lengths_run(const Outcome& outcome, std::size_t families) {
  std::vector<std::size_t> counts(families);
  for (const Sampled& one : outcome.sampled) ++counts[one.configuration.family];
  return counts;
}

/// Returns a search space of the paper: four methods with `lengths` lengths of segments each, from
/// the whole message down to 8 B. The whole message is the fastest.
Space paper_space(std::size_t lengths) {
  Curve curve(lengths);
  for (std::size_t i = 0; i < lengths; ++i) curve[i] = 10 + static_cast<double>(i);
  return space_of({4, curve});
}

}  // namespace

TEST_CASE("tuner: the list of searches begins with race and has help for each") {
  REQUIRE(all_searches().size() == 8);
  CHECK(all_searches().front().name == "race");
  for (const Search& search : all_searches()) {
    CHECK(!search.help.empty());
    CHECK(search_named(search.name) == &search);
  }
  CHECK(search_named("bayes") == nullptr);
}

TEST_CASE("tuner: searches run these numbers of configurations on four curves") {
  const Space space = space_of(four_curves());
  const auto check = [&](const std::string& search, std::size_t configurations,
                         const Options& options = {}) {
    INFO(search);
    const Outcome outcome = choose(search, space, exact(options));
    CHECK(outcome.chosen == least_of_four);
    CHECK(outcome.statistic == Nanos(2000));
    CHECK(outcome.runs == configurations);
    CHECK(outcome.sampled.size() == configurations);
  };
  check("exhaustive", 60);
  check("mgd", 34);
  check("mgd", 26, {.patience = 1});
  check("smgd", 14);
  check("golden", 26);
  check("halving", 60);
  check("race", 4);  // two starting configurations, and two neighbours of the faster start
  CHECK(lengths_run(choose("mgd", space), 4) == std::vector<std::size_t>{11, 10, 4, 9});
  CHECK(lengths_run(choose("smgd", space), 4) == std::vector<std::size_t>{11, 1, 1, 1});
}

TEST_CASE("tuner: exhaustive and mgd need the numbers of runs in the paper's Table 2") {
  CHECK(choose("exhaustive", paper_space(8), {}).runs == 320);
  CHECK(choose("exhaustive", paper_space(15), {}).runs == 600);
  CHECK(choose("mgd", paper_space(8), {}).runs == 160);
}

TEST_CASE("tuner: mgd misses a minimum behind more lengths than its patience") {
  Curve curve{2, 5, 5.1, 5.2, 5.3, 5.0};
  std::reverse(curve.begin(), curve.end());
  const Space space = space_of({curve});
  const Outcome outcome = choose("mgd", space);
  CHECK(outcome.chosen == Configuration{0, 0});
  CHECK(outcome.statistic == Nanos(5000));
  CHECK(choose("mgd", space, exact({.patience = 5})).statistic == Nanos(2000));
}

namespace {

/// Returns partial runs that take the times of `chains`. All pairs of hosts take `slower` times as
/// long as one pair.
tuner::PartialRuns partial_runs(const Space& chains, double slower) {
  return {.on_longest_path = exact_runs(chains),
          .between_pairs = [slower](bool are_all) -> std::optional<Nanos> {
            return Nanos(std::llround(are_all ? 1000 * slower : 1000));
          }};
}

}  // namespace

TEST_CASE("tuner: pipeline runs each tree only with the length that its chain has") {
  // The chains of both trees have their minimum at the third length. The first tree as a whole has
  // it at the fourth.
  const Space chains = space_of({{9, 7, 3, 4, 5, 6}, {8, 6, 5, 7, 9, 9}});
  const Space trees = space_of({{20, 12, 8, 7, 9, 11}, {16, 12, 10, 14, 18, 18}});
  const tuner::Search& search = *search_named("pipeline");
  Options options = exact();
  options.partial = partial_runs(chains, 1.2);
  const Outcome outcome = search.choose(trees, exact_runs(trees), options);
  CHECK(outcome.chosen == Configuration{0, 2});
  CHECK(outcome.statistic == Nanos(8000));
  CHECK(outcome.sampled.size() == 2);  // whole trees
  CHECK(outcome.runs == 2 + 12 + 2);   // pairs, chains and trees
}

TEST_CASE("tuner: pipeline on a saturated network is mgd") {
  const Space chains = space_of({{9, 7, 3, 4, 5, 6}});
  const Space trees = space_of({{20, 12, 8, 7, 9, 11}});
  const tuner::Search& search = *search_named("pipeline");
  Options options = exact();
  options.partial = partial_runs(chains, 1.3);
  const Outcome outcome = search.choose(trees, exact_runs(trees), options);
  CHECK(outcome.chosen == Configuration{0, 3});
  CHECK(outcome.runs == 2 + choose("mgd", trees).runs);
}

TEST_CASE("tuner: smgd rejects a pipeline that is slow without segments") {
  const Space space = space_of({{10, 11, 12, 13}, {60, 30, 15, 7}});
  CHECK(choose("smgd", space).statistic == Nanos(10000));
  CHECK(choose("smgd", space, exact({.theta = no_threshold})).statistic == Nanos(7000));
}

TEST_CASE("tuner: race follows the neighbours of a wrong prediction") {
  Space model = space_of({{8, 4, 3.5, 3, 3.2}, {3.5, 5, 9, 9, 9}});
  const Space truth = space_of({{8, 2, 3, 4, 5}, {4, 5, 9, 9, 9}});
  const Search& race = all_searches().front();
  const Outcome exactly = race.choose(model, exact_runs(truth), exact());
  CHECK(exactly.chosen == Configuration{0, 1});
  CHECK(exactly.statistic == Nanos(2000));
  // The race starts with (0, 3) and (1, 0), written as (family, index of the length). It then adds
  // their neighbours: (0, 1), (0, 2) and (0, 4), and (1, 1).
  CHECK(exactly.sampled.size() == 6);
  CHECK(exactly.runs == 6);
  const Outcome noisy = race.choose(model, exact_runs(truth), {});
  CHECK(noisy.chosen == Configuration{0, 1});
  CHECK(noisy.runs > 2 * noisy.sampled.size() - 1);
  // A neighbour without a predicted time is never run.
  model.families[0].members[2].predicted.reset();
  const auto limited = race.choose(model, exact_runs(truth), exact());
  CHECK(std::none_of(limited.sampled.begin(), limited.sampled.end(), [](const Sampled& one) {
    return one.configuration == Configuration{0, 2};
  }));
}

TEST_CASE("tuner: race takes at most 10 entrants, or 16 of a poor model") {
  const Space space = space_of({20, Curve{5}});
  CHECK(choose("race", space).sampled.size() == 10);
  CHECK(choose("race", space, exact({.delta = 1})).sampled.size() == 16);
  CHECK(choose("race", space).chosen == Configuration{0, 0});
  // All 10 configurations of the race are equally fast. Each of its four rounds therefore runs all
  // 10 configurations: 2, 2, 3 and 5 times, in total 12 * 10 runs.
  CHECK(choose("race", space, {}).runs == 120);
}

TEST_CASE("tuner: race with one entrant ends after the second round") {
  CHECK(choose("race", space_of({{5}, {50}}), {}).runs == 4);
}

TEST_CASE("tuner: halving keeps the faster half and doubles its runs") {
  const Space space = space_of({{8, 7, 6, 5, 4, 3, 2, 1}});
  const Outcome outcome = choose("halving", space, {});
  CHECK(outcome.chosen == Configuration{0, 7});
  CHECK(outcome.runs == 8 + 4 * 2 + 2 * 4);
}

TEST_CASE("tuner: predict chooses without a run") {
  const Outcome outcome = choose("predict", space_of(four_curves()));
  CHECK(outcome.chosen == least_of_four);
  CHECK(!outcome.statistic);
  CHECK(outcome.runs == 0);
}

TEST_CASE("tuner: equally fast configurations go to the one without segmentation") {
  const Space space = space_of({{9, 5, 5}, {5, 5, 5}});
  for (const Search& search : all_searches()) {
    INFO(search.name);
    CHECK(search.choose(space, exact_runs(space), {}).chosen == Configuration{1, 0});
  }
}

TEST_CASE("tuner: every search stops when it is cancelled and keeps its samples") {
  const Space space = space_of(four_curves());
  for (const Search& search : all_searches()) {
    if (search.name == "predict") continue;
    INFO(search.name);
    for (const std::size_t most : {0, 1, 3, 5}) {
      std::size_t runs = 0;
      const auto run = [&](Configuration one) {
        ++runs;
        return member_of(space, one).predicted;
      };
      const Outcome outcome =
          search.choose(space, run, {.is_cancelled = [&] { return runs >= most; }});
      CHECK(outcome.was_cancelled);
      CHECK(outcome.runs == most);
      CHECK(outcome.chosen.has_value() == (most > 0));
      std::size_t samples = 0;
      for (const Sampled& one : outcome.sampled) samples += one.samples.size();
      CHECK(samples == most);
    }
  }
}

TEST_CASE("tuner: every search survives void runs") {
  const Space space = space_of(four_curves());
  for (const Search& search : all_searches()) {
    if (search.name == "predict") continue;
    INFO(search.name);
    const Outcome none =
        search.choose(space, [](Configuration) { return std::optional<Nanos>(); }, {});
    CHECK(!none.chosen);
    CHECK(none.runs == none.void_runs);
    const Outcome some = search.choose(
        space,
        [&](Configuration one) {
          return one == least_of_four ? std::nullopt : member_of(space, one).predicted;
        },
        {});
    CHECK(some.chosen != least_of_four);
  }
}

TEST_CASE("tuner: searches refuse empty spaces and missing predictions") {
  for (const Search& search : all_searches()) {
    INFO(search.name);
    CHECK_THROWS_AS(search.choose({}, exact_runs({}), {}), std::invalid_argument);
    CHECK_THROWS_AS(search.choose({{{"empty", {}}}}, exact_runs({}), {}), std::invalid_argument);
  }
  const Space unknown{{{"unknown", {{}}}}};
  CHECK_THROWS_AS(choose("race", unknown), std::invalid_argument);
  CHECK_THROWS_AS(choose("predict", unknown), std::invalid_argument);
}
