// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/period.hpp — period of noise that shows only while a thread computes.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// A computation of a thread, and whether it took longer than usual.
struct Computed {
  std::int64_t begin_nanos = 0;
  std::int64_t nanos = 0;  ///< duration; if `is_late`, the usual duration
  bool is_late = false;
};

struct Period {
  double nanos = 0;
  /// Correlation between two sets of computations: the late computations, and the computations that
  /// would contain a noise event (tick) if the noise had this period. 1 = the sets are equal.
  double agreement = 0;
  /// Spectrum of the times of the first late computations, with at most 256 points.
  std::vector<SpectrumPoint> spectrum;
};

/// Finds the period of a thread's noise. Returns nullopt if fewer than 8 computations are late, if
/// nearly all computations are late, or if the noise has no period. Requires: `computations` are in
/// the order of time.
///
/// Computations recur regularly, so their times alone fit many periods equally well (aliases). But
/// a tick shows only while the thread computes. The total time of computations, divided by the
/// number of late computations, therefore estimates the period. The time between computations does
/// not matter for it. The spectrum of the times (Rayleigh periodogram) near that estimate gives the
/// exact period. If the period is close to a multiple of the iteration, several aliases fit equally
/// well. In this case, the alias nearest to the estimate is returned.
std::optional<Period> find_period(std::span<const Computed> computations);

/// Noise so frequent that each computation contains some events.
struct FrequentNoise {
  double computation_nanos = 0;  ///< duration of a computation without noise
  double nanos = 0;              ///< duration of one noise event (tick)
  /// Number of ticks in a computation that is not late. A late computation contains one tick more.
  double least_ticks = 1;
};

/// Tests whether periodic noise could be the cause of the late computations if each computation
/// contains ticks. A computation whose first tick comes early contains one tick more than others,
/// and is therefore late. Each period thus predicts which computations are late. Returns the best
/// agreement (Period::agreement) of the periods that fit `noise`; 0 if no period fits. Uses only
/// the first 1024 computations.
double agreement_of_frequent_noise(std::span<const Computed> computations,
                                   const FrequentNoise& noise);

}  // namespace eventspace
