// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/analysis_distribution_test.cpp — quantiles of many numbers, and periods of
// noise.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "eventspace/analysis/metrics/period.hpp"
#include "eventspace/analysis/report/distribution.hpp"

namespace {

using eventspace::Computed;
using eventspace::Distribution;
using eventspace::find_periods;

constexpr std::int64_t ms = 1'000'000;

std::int64_t pseudo_random(std::uint64_t number, std::int64_t below) {
  std::uint64_t mixed = number * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 31) * 0x94d049bb133111eb;
  return static_cast<std::int64_t>((mixed ^ mixed >> 29) % static_cast<std::uint64_t>(below));
}

}  // namespace

TEST_CASE("distribution: an empty one has only zeros") {
  const Distribution nothing;
  CHECK(nothing.summary() == eventspace::Summary{});
  CHECK(nothing.count_at_most(5) == 0);
}

TEST_CASE("distribution: few numbers are exact by nearest rank") {
  Distribution few(100);
  for (std::int64_t value = 100; value >= 1; --value) few.add(value * 7);
  const auto summary = few.summary();
  CHECK(summary.count == 100);
  CHECK(summary.mean == Approx(353.5));
  CHECK(summary.deviation == Approx(7 * std::sqrt(100.0 * 101 / 12)));
  CHECK(summary.min == 7);
  CHECK(summary.p10 == 70);
  CHECK(summary.p50 == 350);
  CHECK(summary.p90 == 630);
  CHECK(summary.p99 == 693);
  CHECK(summary.max == 700);
  CHECK(few.count_at_most(350) == 50);
}

TEST_CASE("distribution: many numbers are within 1% at all magnitudes") {
  for (const int power : {9, 20, 33, 45}) {
    Distribution many(64);
    std::vector<std::int64_t> all;
    for (std::uint64_t number = 0; number < 20'000; ++number) {
      const auto scale = std::pow(2.0, power) * (1 + static_cast<double>(number % 100) / 20);
      all.push_back(pseudo_random(number, std::int64_t{1} << power) +
                    static_cast<std::int64_t>(scale / 3));
      many.add(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const double share : {0.01, 0.1, 0.5, 0.9, 0.99, 0.999}) {
      const auto exact = all[static_cast<std::size_t>(std::ceil(share * 20'000)) - 1];
      INFO("2^" << power << " share " << share);
      CHECK(static_cast<double>(many.quantile(share)) ==
            Approx(static_cast<double>(exact)).epsilon(0.01));
      CHECK(static_cast<double>(many.count_at_most(exact)) ==
            Approx(share * 20'000).margin(0.02 * 20'000));
    }
    CHECK(many.quantile(0) == all.front());
    CHECK(many.quantile(1) == all.back());
  }
}

TEST_CASE("distribution: equal numbers stay exact in any quantity") {
  Distribution same(16);
  for (int i = 0; i < 100'000; ++i) same.add(30'123'457);
  CHECK(same.quantile(0.5) == 30'123'457);
  CHECK(same.mean() == Approx(30'123'457.0));
  for (int i = 0; i < 20'000; ++i) same.add(35'123'457);
  CHECK(same.quantile(0.5) == 30'123'457);
  CHECK(same.quantile(0.9) == 35'123'457);
  CHECK(same.count_at_most(31'000'000) == 100'000);
}

TEST_CASE("distribution: a standard deviation is exact for many numbers far from zero") {
  for (const std::size_t exact_max : {std::size_t{4}, std::size_t{100'000}}) {
    Distribution same(exact_max);
    Distribution two(exact_max);
    for (int i = 0; i < 20'000; ++i) {
      same.add(1'700'000'000 * ms);
      two.add(1'700'000'000 * ms + (i % 2 == 0 ? 1000 : -1000));
    }
    CHECK(same.deviation() == 0);
    CHECK(two.deviation() == Approx(1000).epsilon(0.001));
  }
  Distribution one;
  one.add(5);
  CHECK(one.deviation() == 0);
}

TEST_CASE("distribution: a sum that overflows saturates") {
  Distribution great(2);
  for (int i = 0; i < 5; ++i) great.add(std::int64_t{1} << 62);
  CHECK(great.sum() == std::numeric_limits<std::int64_t>::max());
  CHECK(great.quantile(0.5) == std::int64_t{1} << 62);
}

TEST_CASE("distribution: negative numbers are kept and are the smallest") {
  Distribution mixed(2);
  for (const std::int64_t value : {-500, -300, 40, 50, 60}) mixed.add(value);
  CHECK(mixed.summary().min == -500);
  // The distribution counts -500 and -300 in one range of values. The middle of the range is -400.
  CHECK(mixed.quantile(0.4) == -400);
  CHECK(mixed.quantile(0.6) == 40);
  CHECK(mixed.mean() == Approx(-130.0));
}

TEST_CASE("period: noise that is met only during computations gives its period") {
  // Computations of 30 ms begin every 68.6 ms, so less than half of the noise falls into
  // computations. Two of the three periods are shorter than two iterations.
  for (const std::int64_t period : {100 * ms, 45 * ms, 333 * ms}) {
    std::vector<Computed> computed;
    for (std::int64_t begin = 0; begin < 600'000 * ms; begin += 68'634'700) {
      const std::int64_t next_tick = (begin + period - 1) / period * period;
      computed.push_back({begin, 30 * ms, next_tick < begin + 30 * ms});
    }
    const auto found = find_periods(computed);
    REQUIRE(found.size() == 1);
    CHECK(found[0].nanos == Approx(static_cast<double>(period)).epsilon(0.001));
    CHECK(found[0].agreement > 0.95);
  }
}

TEST_CASE("period: each of several noises gives its period, the one with the most noise first") {
  struct Noise {
    std::int64_t period, nanos;
  };
  const std::vector<std::vector<Noise>> mixtures = {
      {{53 * ms, 4 * ms}, {41 * ms, 2 * ms}},
      {{41 * ms, 2 * ms}, {53 * ms, 2 * ms}},
      {{310 * ms, 30 * ms}, {41 * ms, 2 * ms}},
      {{61 * ms, 4 * ms}, {73 * ms, 3 * ms}, {89 * ms, 2 * ms}},
  };
  for (const std::vector<Noise>& mixture : mixtures) {
    std::vector<Computed> computed;
    for (std::uint64_t number = 0; number < 3000; ++number) {
      const std::int64_t begin = static_cast<std::int64_t>(number) * 7'900'000 +
                                 static_cast<std::int64_t>(pseudo_random(number, 900'000));
      Computed one{begin, 5 * ms, false, 0};
      for (const Noise& noise : mixture) {
        const std::int64_t next_tick = (begin + noise.period - 1) / noise.period * noise.period;
        if (next_tick >= begin + 5 * ms) continue;
        one.is_late = true;
        one.noise_nanos += noise.nanos;
      }
      computed.push_back(one);
    }
    const auto found = find_periods(computed);
    REQUIRE(found.size() == mixture.size());
    for (std::size_t place = 0; place < mixture.size(); ++place) {
      const auto period = static_cast<double>(mixture[place].period);
      const auto nanos = static_cast<double>(mixture[place].nanos);
      CHECK(found[place].nanos == Approx(period).epsilon(0.001));
      CHECK(found[place].noise_nanos == Approx(nanos));
    }
  }
}

TEST_CASE("period: noise that begins before a computation does not give a second period") {
  struct Case {
    std::int64_t period, noise, wait;
  };
  for (const Case& one : {Case{331 * ms, 4 * ms, 22'300'000}, Case{65 * ms, 4 * ms, 22'300'000},
                          Case{280 * ms, 8 * ms, 22'300'000}, Case{210 * ms, 15 * ms, 17'300'000},
                          Case{106 * ms, 8 * ms, 22'300'000}}) {
    std::vector<Computed> computed;
    std::int64_t begin = 5 * ms;
    for (int number = 0; number < 1000; ++number) {
      // A tick takes the first `noise` of each period. Noise that has begun before the computation
      // delays it by the rest.
      const std::int64_t before = std::max<std::int64_t>(0, one.noise - begin % one.period);
      const std::int64_t next_tick = begin / one.period * one.period + one.period;
      const bool is_met = next_tick < begin + before + 30 * ms;
      const std::int64_t noise = before + (is_met ? one.noise : 0);
      computed.push_back({begin, 30 * ms, noise > 0, noise});
      begin += 30 * ms + noise + one.wait;
    }
    INFO(one.period);
    const auto found = find_periods(computed);
    REQUIRE(found.size() == 1);
    CHECK(found[0].nanos == Approx(static_cast<double>(one.period)).epsilon(0.001));
    CHECK(found[0].noise_nanos <= static_cast<double>(one.noise));
  }
}

TEST_CASE("period: of periods that fit equally well one is chosen, the others are kept") {
  // Every third computation is late. A period of three iterations explains this, and half of it.
  std::vector<Computed> computed;
  for (std::int64_t number = 0; number < 1000; ++number)
    computed.push_back({number * 50 * ms, 20 * ms, number % 3 == 0, number % 3 == 0 ? 5 * ms : 0});
  const auto found = find_periods(computed);
  REQUIRE(found.size() == 1);
  std::vector<double> all = found[0].others;
  all.push_back(found[0].nanos);
  CHECK(std::any_of(all.begin(), all.end(),
                    [](double one) { return one == Approx(150.0 * ms).epsilon(0.01); }));
  CHECK(all.size() > 1);
}

TEST_CASE("period: random and rare and constant lateness have no period") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<Computed> computed;
    for (std::uint64_t number = 0; number < 2000; ++number) {
      const bool is_late = pseudo_random(seed * 100'000 + number, 10) < 2;
      computed.push_back({static_cast<std::int64_t>(number) * 40 * ms, 30 * ms, is_late});
    }
    INFO("seed " << seed);
    CHECK(find_periods(computed).empty());
  }
  std::vector<Computed> computed;
  CHECK(find_periods(computed).empty());
  for (std::int64_t number = 0; number < 100; ++number)
    computed.push_back({number * 40 * ms, 30 * ms, true});
  CHECK(find_periods(computed).empty());
  for (std::size_t number = 7; number < 100; ++number) computed[number].is_late = false;
  CHECK(find_periods(computed).empty());
}

TEST_CASE("blocks: rows are means of equally many numbers in order and few") {
  eventspace::Blocks blocks;
  CHECK(blocks.rows().empty());
  for (int number = 0; number < 256; ++number) blocks.add(number);
  REQUIRE(blocks.rows().size() == 256);
  CHECK(blocks.rows()[17] == eventspace::Blocks::Row{17, 1});
  // With more than 256 numbers, each row is the sum of two numbers. Here the last row has only one
  // number.
  blocks.add(256);
  REQUIRE(blocks.rows().size() == 129);
  CHECK(blocks.rows()[127] == eventspace::Blocks::Row{254 + 255, 2});
  CHECK(blocks.rows()[128] == eventspace::Blocks::Row{256, 1});
  for (int number = 257; number < 100'000; ++number) blocks.add(number);
  const auto rows = blocks.rows();
  CHECK(rows.size() <= 256);
  CHECK(rows.size() >= 128);
  double sum = 0;
  std::uint64_t count = 0;
  for (const auto& row : rows) {
    CHECK(row.sum / static_cast<double>(row.count) >= sum / static_cast<double>(count + 1));
    sum += row.sum;
    count += row.count;
  }
  CHECK(sum == 99'999.0 * 50'000);
  CHECK(count == 100'000);
}
