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
  std::int64_t nanos = 0;  ///< duration; for a late computation, the usual duration
  bool is_late = false;
};

struct Period {
  double nanos = 0;
  /// Correlation between the computations that are late and those that would contain a noise event
  /// (tick) if the noise had this period; 1 = perfect.
  double agreement = 0;
  /// Spectrum of the times of the first late computations, with at most 256 points.
  std::vector<SpectrumPoint> spectrum;
};

/// Finds the period of a thread's noise. Returns nullopt if fewer than 8 computations are late, if
/// most computations contain several noise events (ticks), or if there is no period. Requires:
/// `computations` are in the order of time.
///
/// Computations recur regularly, so their times alone fit many periods equally well (aliases). But
/// a tick shows only while the thread computes. The total time of computations, divided by the
/// number of late ones, therefore estimates the period, whatever happened between computations. The
/// spectrum of the times (Rayleigh periodogram) near that estimate gives the exact period. If the
/// period is close to a multiple of the iteration, several aliases fit equally well. Of these, the
/// one nearest to the estimate is returned.
std::optional<Period> find_period(std::span<const Computed> computations);

/// Noise so frequent that each computation contains some events.
struct FrequentNoise {
  double computation_nanos = 0;  ///< duration of a computation without noise
  double nanos = 0;              ///< duration of one noise event (tick)
  /// Number of ticks in a computation that is not late. A late computation contains more.
  double least_ticks = 1;
};

/// Tests whether periodic noise could be the cause of the late computations, even though no
/// computation is free of ticks. A computation contains one tick more, and is therefore late, if
/// its first tick comes early. Each period thus predicts which computations are late. Returns the
/// best agreement (Period::agreement) of the periods that fit `noise`; 0 if there is none. Uses
/// only the first 1024 computations.
double agreement_of_frequent_noise(std::span<const Computed> computations,
                                   const FrequentNoise& noise);

}  // namespace eventspace
