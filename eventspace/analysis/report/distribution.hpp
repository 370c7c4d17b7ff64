// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/distribution.hpp — distributions of many numbers in little memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/fields.hpp"

namespace eventspace {

/// Adds `value` to `sum`. The sum saturates at the limits of the type, because damaged records may
/// contain any times.
void add_to(std::int64_t& sum, std::int64_t value);

/// Summary of a distribution in a report. If the distribution is empty, all fields are 0.
struct Summary {
  std::uint64_t count = 0;
  double mean = 0;
  double deviation = 0;
  std::int64_t min = 0;
  std::int64_t p10 = 0;
  std::int64_t p50 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
  friend bool operator==(const Summary&, const Summary&) = default;
};

template <class Visitor>
void describe(Visitor& visit, const Summary& summary) {
  visit.object("summary", "Distribution of values.");
  visit.field("count", summary.count, units::count, "Values in the distribution.");
  const Presence some = left_out_if("count", summary.count);
  visit.field("mean", summary.mean, units::as_field, "Mean.", some);
  visit.field("deviation", summary.deviation, units::deviation, "Standard deviation.", some);
  visit.field("min", summary.min, units::as_field, "Least value.", some);
  visit.field("p10", summary.p10, units::as_field, "10th percentile.", some);
  visit.field("p50", summary.p50, units::as_field, "Median.", some);
  visit.field("p90", summary.p90, units::as_field, "90th percentile.", some);
  visit.field("p99", summary.p99, units::as_field, "99th percentile.", some);
  visit.field("max", summary.max, units::as_field, "Greatest value.", some);
}

/// Bin of a histogram. It counts the values from `from` to `to` - 1.
struct Bin {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t count = 0;
  friend bool operator==(const Bin&, const Bin&) = default;
};

/// Summarises many numbers in little memory. It stores each of the first `exact_max` numbers. If
/// there are more numbers, it stores only the count and mean of the numbers in each range of
/// values. A range is narrower than 1% of its values. If all numbers in a range are equal, their
/// mean is exact. Count, mean, minimum and maximum of the distribution are always exact.
class Distribution {
 public:
  explicit Distribution(std::size_t exact_max = 1024) : exact_max_(exact_max) {}
  void add(std::int64_t value);

  std::uint64_t count() const { return count_; }
  std::int64_t sum() const { return sum_; }
  double mean() const;
  double deviation() const;
  /// Returns the quantile: the least number x such that at least the fraction `share` of the
  /// numbers are at most x. Returns 0 if the distribution is empty.
  std::int64_t quantile(double share) const;
  std::uint64_t count_at_most(std::int64_t value) const;
  Summary summary() const;
  /// Returns the non-empty bins of a histogram in ascending order. 32 bins of equal width span the
  /// values from each power of two to the next power of two. All distributions have bins with the
  /// same limits, so that their histograms can be added.
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
  double centre_ = 0;   // mean of the numbers so far (Welford 1962)
  double squares_ = 0;  // sum of their squared deviations from the mean
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  // All numbers while there are at most exact_max_; otherwise empty.
  std::vector<std::int64_t> samples_;
  std::vector<Range> ranges_;  // sorted by index; empty while samples_ contains all numbers
  // Index of the range that contains the latest number. The next number is often in the same range.
  std::size_t last_range_ = 0;
};

/// Divides a sequence of numbers into rows. Each row is the sum of equally many consecutive
/// numbers. There are at most 256 rows; when more numbers arrive, pairs of rows are merged.
/// Adjacent numbers may depend on each other, but most of them are in the same row. Rows can
/// therefore be resampled as if they were independent.
class Blocks {
 public:
  struct Row {
    double sum = 0;
    std::uint64_t count = 0;  ///< count of numbers; equal in all rows except perhaps the last
    friend bool operator==(const Row&, const Row&) = default;
  };
  void add(std::int64_t value);
  std::vector<Row> rows() const;

 private:
  std::vector<double> sums_;
  std::uint64_t each_ = 1;  // how many numbers each full row adds up
  std::uint64_t last_ = 0;  // how many numbers the last row adds up so far
};

}  // namespace eventspace
