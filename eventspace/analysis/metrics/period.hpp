// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/period.hpp — period of noise that shows only in computation.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Computation of a thread, and whether it took longer than it should have.
struct Computed {
  std::int64_t begin_nanos = 0;
  std::int64_t nanos = 0;  ///< without the time by which it was late
  bool is_late = false;
};

struct Period {
  double nanos = 0;
  /// Correlation between late computations and those that contain a noise event (tick) of this
  /// period; 1 = perfect.
  double agreement = 0;
  std::vector<SpectrumPoint> spectrum;  ///< spectrum of the first late times, at most 256 points
};

/// Finds the period of a thread's noise. Returns nothing if fewer than 8 computations are late, if
/// most computations contain several ticks, or if there is no period. Requires: `computations` in
/// order of time.
///
/// Computations recur regularly, so their times alone fit many periods equally well (aliases). But
/// a tick shows only while the thread computes. Total computing time divided by the number of late
/// computations therefore estimates the period, whatever happened in between. The spectrum of the
/// times (Rayleigh periodogram) near that estimate gives the exact period. If the period is close
/// to a multiple of the iteration, several aliases fit equally well. The nearest to the estimate is
/// returned.
std::optional<Period> find_period(std::span<const Computed> computations);

/// Noise so frequent that each computation contains some.
struct FrequentNoise {
  double computation_nanos = 0;  ///< computation without noise
  double nanos = 0;              ///< time of one tick
  double least_ticks = 1;        ///< ticks in each computation; late ones have more
};

/// Returns the best agreement (see Period) over all periods. It assumes that the time from a
/// computation's begin to its first tick determines how many more ticks follow. Considers the first
/// 1024 computations.
double agreement_of_frequent_noise(std::span<const Computed> computations,
                                   const FrequentNoise& noise);

}  // namespace eventspace
