// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/bootstrap.cpp — uncertainty of a mean, by resampling of a run's
// blocks.
#include "eventspace/analysis/report/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eventspace {
namespace {

constexpr int resamples = 400;

void add(Blocks::Row& sum, const Blocks::Row& row) {
  sum.sum += row.sum;
  sum.count += row.count;
}

double mean_of_row(const Blocks::Row& row) {
  return row.count == 0 ? 0 : row.sum / static_cast<double>(row.count);
}

Blocks::Row all_of(const BlockRows& rows) {
  Blocks::Row all;
  for (const Blocks::Row& row : rows) add(all, row);
  return all;
}

/// Returns the length of the blocks of the block bootstrap: the number of consecutive rows that are
/// resampled together. Long blocks cover the dependence between rounds; short blocks are more
/// numerous. The length is the square root of the number of rows, so that there are as many blocks
/// as rows in a block.
std::size_t length_of(const BlockRows& rows) {
  return static_cast<std::size_t>(std::sqrt(static_cast<double>(rows.size())));
}

/// Returns the share of the values of a normal distribution that are more than `deviations`
/// standard deviations away from the mean.
double normal_outside(double deviations) { return std::erfc(deviations / std::numbers::sqrt2); }

/// Returns the least number x, from 0 to normal_deviations_max, at which `is_reached(x)` is true.
template <typename IsReached>
double least_deviations(const IsReached& is_reached) {
  constexpr double normal_deviations_max = 40;
  double low = 0;
  double high = normal_deviations_max;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (is_reached(middle) ? high : low) = middle;
  }
  return low;
}

/// Returns the quantile of Student's t distribution for which the normal distribution has the
/// quantile `z` (Abramowitz and Stegun 1964, 26.7.5).
double student_of_normal(double z, double freedom) {
  const auto power = [z](int exponent) { return std::pow(z, exponent); };
  return z + (power(3) + z) / (4 * freedom) +
         (5 * power(5) + 16 * power(3) + 3 * z) / (96 * std::pow(freedom, 2)) +
         (3 * power(7) + 19 * power(5) + 17 * power(3) - 15 * z) / (384 * std::pow(freedom, 3));
}

}  // namespace

double mean_of(const BlockRows& rows) { return mean_of_row(all_of(rows)); }

/// The last row may have fewer rounds than the other rows. Its weight is accordingly less.
MeanEstimate estimate_mean(const BlockRows& rows, std::mt19937_64& random) {
  const std::size_t length = length_of(rows);
  BlockRows long_rows(rows.size());  // sum of each `length` consecutive rows, cyclically
  for (std::size_t first = 0; first < rows.size(); ++first)
    for (std::size_t place = 0; place < length; ++place)
      add(long_rows[first], rows[(first + place) % rows.size()]);
  const std::size_t drawn = rows.size() / length;
  const double centre = mean_of(rows);
  double squares = 0;
  for (int resample = 0; resample < resamples; ++resample) {
    Blocks::Row all;
    for (std::size_t row = 0; row < drawn; ++row) add(all, long_rows[random() % long_rows.size()]);
    squares += std::pow(mean_of_row(all) - centre, 2);
  }
  const double deviation =
      std::sqrt(squares / resamples * static_cast<double>(drawn) / static_cast<double>(drawn - 1));
  return {centre, deviation, static_cast<double>(drawn - 1)};
}

MeanEstimate difference_of(const MeanEstimate& one, const MeanEstimate& other) {
  return {one.mean - other.mean, std::hypot(one.deviation, other.deviation),
          std::min(one.freedom, other.freedom)};
}

double student_quantile(double outside, double freedom) {
  return student_of_normal(least_deviations([=](double z) { return normal_outside(z) <= outside; }),
                           freedom);
}

double student_outside(double deviations, double freedom) {
  return normal_outside(
      least_deviations([=](double z) { return student_of_normal(z, freedom) >= deviations; }));
}

}  // namespace eventspace
