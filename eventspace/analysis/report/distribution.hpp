// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/distribution.hpp — many numbers in little memory: mean, extremes and
// quantiles.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eventspace {

/// Stops at the greatest and least numbers there are: damaged records may say anything.
void add_to(std::int64_t& sum, std::int64_t value);

/// What is said of a distribution in a report. All but the count are 0 when there is nothing.
struct Summary {
  std::uint64_t count = 0;
  double mean = 0;
  double deviation = 0;  ///< standard deviation
  std::int64_t min = 0;
  std::int64_t p10 = 0;
  std::int64_t p50 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
  friend bool operator==(const Summary&, const Summary&) = default;
};

/// How many numbers were at least `from` and less than `to`.
struct Bin {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t count = 0;
  friend bool operator==(const Bin&, const Bin&) = default;
};

/// Keeps numbers as they are while they are few, afterwards how many fell into each of a row of
/// ranges that are less than 1% of their values wide, with the mean of each: so equal numbers stay
/// exact. Count, mean, least and greatest are exact always.
class Distribution {
 public:
  explicit Distribution(std::size_t exact_max = 1024) : exact_max_(exact_max) {}
  void add(std::int64_t value);

  std::uint64_t count() const { return count_; }
  std::int64_t sum() const { return sum_; }
  double mean() const;
  double deviation() const;
  /// The least number that at least `share` of all do not exceed; 0 when there are none.
  std::int64_t quantile(double share) const;
  std::uint64_t count_at_most(std::int64_t value) const;
  Summary summary() const;
  /// For a histogram: those that are not empty, by size. Each is 1/32 of a doubling wide, where all
  /// distributions have them, so that bins of several can be added up.
  std::vector<Bin> bins() const;

 private:
  struct Range {
    std::uint32_t index = 0;
    std::uint64_t count = 0;
    double sum = 0;
  };
  static std::uint32_t index_of(std::int64_t value);
  static std::int64_t least_of(std::uint32_t index);
  void spill();
  void add_to_range(std::int64_t value);
  std::int64_t value_at(const std::vector<std::int64_t>& sorted, double share) const;

  std::size_t exact_max_;
  std::uint64_t count_ = 0;
  std::int64_t sum_ = 0;
  double centre_ = 0;  // mean of those so far, and sum of squares around it (Welford 1962)
  double squares_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  std::vector<std::int64_t> samples_;  // all of them, or none
  std::vector<Range> ranges_;          // by index
  std::size_t last_range_ = 0;         // numbers that follow each other tend to be alike
};

/// Sums of rows of equally many numbers, in the order in which they came: at most 256 of them,
/// which become longer as more come. Numbers that depend on each other stay together, so that the
/// rows can be resampled as if they did not.
class Blocks {
 public:
  struct Row {
    double sum = 0;
    std::uint64_t count = 0;  ///< the same in all, but that the last one may have fewer
    friend bool operator==(const Row&, const Row&) = default;
  };
  void add(std::int64_t value);
  std::vector<Row> rows() const;

 private:
  std::vector<double> sums_;
  std::uint64_t each_ = 1;  // how many make one
  std::uint64_t last_ = 0;  // how many are in the last one
};

}  // namespace eventspace
