// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/bootstrap.hpp — uncertainty of a mean, by resampling of a run's
// blocks.
#pragma once
#include <cstddef>
#include <random>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"

namespace eventspace {

using BlockRows = std::vector<Blocks::Row>;

/// Least number of rows from which the uncertainty of a mean is estimated. The estimate needs at
/// least four blocks of four rows.
inline constexpr std::size_t resampled_rows_least = 16;

/// Estimate of a mean. `deviation` is the standard deviation of the estimate. `freedom` is the
/// number of degrees of freedom.
struct MeanEstimate {
  double mean = 0;
  double deviation = 0;
  double freedom = 1;
};

double mean_of(const BlockRows& rows);  ///< mean of all numbers in the rows; 0 if there are none

/// Estimates the mean of `rows` and the standard deviation of this estimate. Iterations depend on
/// each other, so consecutive rows are resampled together.
///
/// Requires: at least resampled_rows_least rows, in the order of time.
/// Paper: Politis and Romano 1992, circular block bootstrap.
MeanEstimate estimate_mean(const BlockRows& rows, std::mt19937_64& random);

/// Returns the estimate of the mean of `one` minus the mean of `other`.
MeanEstimate difference_of(const MeanEstimate& one, const MeanEstimate& other);

/// Returns a number x of standard deviations, by Student's t distribution with `freedom` degrees of
/// freedom. The share `outside` of the values is more than x standard deviations from the mean.
/// Student's distribution is needed because few rows give only a rough standard deviation.
double student_quantile(double outside, double freedom);

/// Returns the share of the values in Student's t distribution that are more than `deviations`
/// standard deviations from the mean. It is the inverse function of student_quantile().
double student_outside(double deviations, double freedom);

}  // namespace eventspace
