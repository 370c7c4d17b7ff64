// SPDX-License-Identifier: Apache-2.0
// tests/base/link_model/measurement_test.cpp — figures from samples of a machine that other
// programs sometimes use.
#include "base/link_model/measurement.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using base::Nanos;
using tuning::Interference;
using tuning::Measurement;
using State = Measurement::State;
using namespace std::chrono_literals;

namespace {

using Samples = std::vector<Nanos>;

/// Returns samples of an action that takes `truth`. Each sample is a little longer than `truth`,
/// some are much longer, and all samples of a slow period are longer.
Samples noisy(std::mt19937_64& random, Nanos truth, double slow_period) {
  std::uniform_real_distribution<double> share(0, 1);
  const double slowness = share(random) < slow_period ? 1.1 + share(random) : 1;
  Samples samples;
  for (int i = 0; i < 10; ++i) {
    double factor = slowness * (1 + 0.01 * share(random));
    if (share(random) < 0.1) factor *= 1 + 30 * share(random);
    samples.emplace_back(static_cast<std::int64_t>(static_cast<double>(truth.count()) * factor));
  }
  return samples;
}

}  // namespace

TEST_CASE("a figure is the lowest median of its batches") {
  Measurement one({1});
  CHECK(one.figure() == 0);
  one.add({{30us, 10us, 20us}});
  CHECK(one.figure() == 20'000);
  one.add({{19us, 1us, 90us, 95us}});  // the median is the lower of the two middle values
  CHECK(one.figure() == 19'000);
  one.add({{500us}});
  CHECK(one.figure() == 19'000);
  CHECK(one.spread() == Approx(1.0 / 19));
}

TEST_CASE("time common to both sizes cancels out of their difference") {
  Measurement difference({-1, 1});
  for (int i = 0; i < 5; ++i) difference.add({{10ms + 1ms}, {10ms + 3ms}});
  CHECK(difference.figure() == 2e6);
  CHECK(difference.spread() == 0);
  CHECK(difference.state() == State::agreed);
}

TEST_CASE(
    "a measurement stops after the minimum number of batches if its two lowest medians agree") {
  Measurement one({1});
  for (int i = 0; i < 4; ++i) one.add({{100us}});
  CHECK(one.state() == State::more);
  one.add({{100us}});
  CHECK(one.state() == State::agreed);

  Measurement apart({1});
  for (const Nanos sample : Samples{100us, 104us, 108us, 110us, 120us}) apart.add({{sample}});
  CHECK(apart.state() == State::more);  // the two lowest samples differ by 4 %
  apart.add({{102us}});
  CHECK(apart.state() == State::agreed);
}

TEST_CASE("a small difference of large times requires times that are close together") {
  Measurement difference({-1, 1});
  for (int i = 0; i < 5; ++i)
    // The two actions differ by 2 ms. The samples of each action vary by 10 % of 2 ms, up and down.
    difference.add({{100ms + i * 100us}, {102ms + i * 100us}});
  CHECK(difference.spread() == Approx(0.1));
  CHECK(difference.state() == State::more);
  CHECK(difference.is_usable());
}

TEST_CASE("a measurement ends at its limit of batches including rejected ones") {
  Measurement rejected({1});
  for (int i = 0; i < 11; ++i) rejected.reject();
  CHECK(rejected.state() == State::more);
  rejected.add({{1ms}});
  CHECK(rejected.state() == State::over);
  CHECK_FALSE(rejected.is_usable());  // one batch does not show how certain a figure is
}

TEST_CASE("a measurement whose batches never agree has no figure") {
  Measurement wild({1});
  Nanos sample = 1ms;
  int batches = 0;
  for (; wild.state() == State::more; ++batches) wild.add({{sample *= 2}});
  CHECK(wild.state() == State::over);
  CHECK(batches == 12);
  CHECK_FALSE(wild.is_usable());
}

TEST_CASE("a difference of zero is a valid figure if all samples agree") {
  Measurement nothing({-1, 1});
  for (int i = 0; i < 5; ++i) nothing.add({{5ms}, {5ms}});
  CHECK(nothing.state() == State::agreed);
  CHECK(nothing.figure() == 0);
  Measurement less({-1, 1});
  for (int i = 0; i < 5; ++i) less.add({{6ms + i * 1us}, {5ms}});
  CHECK(std::isinf(less.spread()));
  CHECK_FALSE(less.is_usable());
}

TEST_CASE("stolen time and forced switches mark a batch as disturbed") {
  CHECK_FALSE(Interference{.wall = 20ms, .involuntary_switches = 1}.disturbs());
  CHECK(Interference{.wall = 39ms, .involuntary_switches = 2}.disturbs());
  CHECK(Interference{.wall = 1s, .steal_ticks = 1}.disturbs());
}

TEST_CASE("the number of samples in a batch fills its time within bounds") {
  CHECK(tuning::samples_of_batch(1ms, 5ms, 1, 10) == 5);
  CHECK(tuning::samples_of_batch(1us, 5ms, 1, 10) == 10);
  CHECK(tuning::samples_of_batch(1s, 5ms, 2, 10) == 2);
  CHECK(tuning::samples_of_batch(0s, 5ms, 2, 10) == 10);
}

TEST_CASE("a machine that is slow half of the time is measured within 3 % in 97 of 100 cases") {
  int near = 0, differences_near = 0;
  constexpr int cases = 300;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    std::mt19937_64 random(seed);
    const Nanos truth(std::uniform_int_distribution<std::int64_t>(1'000, 1'000'000'000)(random));
    Measurement time({1}), difference({-1, 1});
    while (time.state() == State::more) time.add({noisy(random, truth, 0.5)});
    while (difference.state() == State::more)
      difference.add({noisy(random, truth, 0.5), noisy(random, 3 * truth, 0.5)});
    const auto exact = static_cast<double>(truth.count());
    CAPTURE(seed);
    CHECK(time.figure() >= exact);  // samples are never shorter than the true time
    if (time.figure() <= 1.03 * exact) ++near;
    if (std::abs(difference.figure() - 2 * exact) <= 0.06 * exact) ++differences_near;
  }
  CHECK(near >= cases * 97 / 100);
  CHECK(differences_near >= cases * 90 / 100);
}

TEST_CASE("the order of samples and of batches does not change the figure") {
  const std::uint64_t seed = GENERATE(range(1, 51));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::vector<Samples> batches;
  for (int i = 0; i < 8; ++i) batches.push_back(noisy(random, 1ms, 0.3));
  Measurement one({1}), other({1});
  for (const Samples& batch : batches) one.add({batch});
  std::shuffle(batches.begin(), batches.end(), random);
  for (Samples& batch : batches) {
    std::shuffle(batch.begin(), batch.end(), random);
    other.add({batch});
  }
  CHECK(one.figure() == other.figure());
  CHECK(one.spread() == other.spread());
}
