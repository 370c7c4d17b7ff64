// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/experiment_test.cpp — order of runs, statistics of their times, and runs
// without a time.
#include "collectives/tuner/experiment.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/collectives/tuner/curves.hpp"

using namespace tuner;
using base::Nanos;

namespace {

std::vector<Nanos> nanos(std::initializer_list<int> values) {
  std::vector<Nanos> all;
  for (const int value : values) all.emplace_back(value);
  return all;
}

const std::vector<Configuration> three{{0, 0}, {0, 1}, {0, 2}};

}  // namespace

TEST_CASE("tuner: the statistic is the mean of the lower half of the samples") {
  CHECK(lower_half_mean(nanos({10, 11, 12, 13, 100})) == Nanos(11));
  CHECK(lower_half_mean(nanos({100, 10, 13, 11})) == Nanos(11));  // rounded from 10.5
  CHECK(lower_half_mean(nanos({7})) == Nanos(7));
  CHECK_THROWS_AS(lower_half_mean({}), std::invalid_argument);
}

TEST_CASE("tuner: each round runs every configuration once, in a new order") {
  const Space space = space_of({{1, 2, 3}});
  std::vector<std::size_t> order;
  const auto run = [&](Configuration one) {
    order.push_back(one.member);
    return std::optional(Nanos(one.member));
  };
  Experiment experiment(space, run, 1);
  CHECK(experiment.run_each(three, 20));
  REQUIRE(order.size() == 60);
  bool is_reordered = false;
  for (std::size_t round = 0; round < 20; ++round) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(3 * round);
    is_reordered = is_reordered || !std::equal(begin, begin + 3, order.begin());
    std::vector<std::size_t> sorted(begin, begin + 3);
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::vector<std::size_t>{0, 1, 2});
  }
  CHECK(is_reordered);
  const std::vector<std::size_t> first = order;
  order.clear();
  Experiment(space, run, 1).run_each(three, 20);
  CHECK(order == first);
}

TEST_CASE("tuner: a void run is repeated once in its round and counts as a run") {
  const Space space = space_of({{1, 2, 3}});
  std::size_t runs = 0;
  Experiment experiment(
      space,
      [&](Configuration one) -> std::optional<Nanos> {
        ++runs;
        if (one.member == 2 || runs == 1) return std::nullopt;
        return Nanos(10 + one.member);
      },
      1);
  CHECK(experiment.run_each(three, 2));
  const Outcome outcome = experiment.choose_among(three);
  CHECK(outcome.runs == runs);
  CHECK(outcome.runs - outcome.void_runs == 4);
  CHECK(outcome.void_runs >= 4);
  CHECK(outcome.time_spent == Nanos(42));
  CHECK(outcome.chosen == Configuration{0, 0});
  CHECK(outcome.statistic == Nanos(10));
  REQUIRE(outcome.sampled.size() == 3);
  CHECK(outcome.sampled[1].samples == nanos({11, 11}));
  CHECK(outcome.sampled[2].samples.empty());
  CHECK(!outcome.sampled[2].statistic);
}

TEST_CASE("tuner: cancellation stops between two runs and keeps the samples") {
  const Space space = space_of({{1, 2, 3}});
  std::size_t runs = 0;
  Experiment experiment(
      space,
      [&](Configuration) {
        ++runs;
        return std::optional(Nanos(5));
      },
      1, [&] { return runs == 4; });
  CHECK(!experiment.run_each(three, 2));
  CHECK(!experiment.run_each(three, 1));
  CHECK(runs == 4);
  const Outcome outcome = experiment.choose_among(three);
  CHECK(outcome.was_cancelled);
  CHECK(outcome.time_spent == Nanos(20));
  CHECK(outcome.chosen);
}

TEST_CASE("tuner: equally fast configurations go to no segmentation, then to list order") {
  Space space = space_of({{5, 5}, {5, 5}});
  space.families[0].members[0].length = 4096;
  Experiment experiment(
      space, [](Configuration) { return std::optional(Nanos(5)); }, 1);
  const std::vector<Configuration> all{{1, 1}, {0, 1}, {1, 0}, {0, 0}};
  experiment.run_each(all, 1);
  CHECK(experiment.choose_among(all).chosen == Configuration{1, 0});
  space.families[1].members[0].length = 4096;
  CHECK(experiment.choose_among(all).chosen == Configuration{0, 0});
}
