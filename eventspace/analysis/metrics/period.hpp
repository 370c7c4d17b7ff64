// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/period.hpp — periods of noise that shows only while a thread
// computes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// A computation of a thread, and whether it took longer than usual.
struct Computed {
  std::int64_t begin_nanos = 0;
  std::int64_t nanos = 0;  ///< duration; if `is_late`, the usual duration
  bool is_late = false;
  std::int64_t noise_nanos = 0;  ///< time by which a late computation was longer than usual
};

struct Period {
  double nanos = 0;
  /// Correlation between two sets of computations: the late computations, and the computations that
  /// would contain a noise event (tick) if the noise had this period. 1 = the sets are equal. If
  /// the noise has several periods, the computations of the periods found before are left out.
  double agreement = 0;
  double phase = 0;         ///< time of a tick after the first computation began, in periods
  double lead_nanos = 0;    ///< a tick so long before a computation still delays it
  std::uint64_t ticks = 0;  ///< number of late computations that a tick delays
  /// Median of noise_nanos of these computations. Computations that other periods delay are left
  /// out.
  double noise_nanos = 0;
  /// Other periods that predict about the same computations (aliases), at most two.
  std::vector<double> others = {};
  /// Spectrum of the times of the first late computations, with at most 256 points.
  std::vector<SpectrumPoint> spectrum;
};

/// Finds the periods of a thread's noise, at most three. The first has the most noise. Returns no
/// period if fewer than 8 computations are late, if nearly all computations are late, or if the
/// noise has no period. Requires: `computations` are in the order of time.
///
/// Computations recur regularly, so their times alone fit many periods equally well (aliases). But
/// a tick shows only while the thread computes. The total time of computations, divided by the
/// number of late computations, therefore estimates the period. The time between computations does
/// not matter for it. The spectrum of the times (Rayleigh periodogram) near that estimate gives the
/// exact period. If the period is close to a multiple of the iteration, several aliases fit equally
/// well. In this case, the alias nearest to the estimate is returned, with the next ones.
///
/// If the noise has several periods, each explains a part of the late computations. After a period
/// is found, its computations are left out of the search for the next one.
std::vector<Period> find_periods(std::span<const Computed> computations);

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
