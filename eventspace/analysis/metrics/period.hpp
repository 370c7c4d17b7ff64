// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/period.hpp — the period of noise that is seen only while somebody
// computes.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// A computation, and whether it took longer than it should have.
struct Computed {
  std::int64_t begin_nanos = 0;
  std::int64_t nanos = 0;  ///< without what it was late
  bool is_late = false;
};

struct Period {
  double nanos = 0;
  /// How well "late if and only if a tick fell into it" describes the computations: the correlation
  /// between being late and being predicted to be late.
  double agreement = 0;
  std::vector<SpectrumPoint> spectrum;  ///< of the first times it was late, at most 256 points
};

/// `computations` are in order of time. Returns nothing when too few are late (fewer than 8), when
/// ticks are so frequent that most computations contain several, or when there is no period.
///
/// Computations recur regularly, so their times alone fit many periods equally well (aliases). But
/// a tick shows only while the thread computes, so total computing time divided by the number of
/// late computations estimates the period, whatever happened in between; the spectrum of the times
/// (Rayleigh periodogram) near that estimate then gives it exactly. Where the period is close to a
/// multiple of the iteration, several aliases fit equally well: the one nearest to it is returned.
std::optional<Period> find_period(std::span<const Computed> computations);

/// Noise so frequent that every computation contains some.
struct FrequentNoise {
  double computation_nanos = 0;  ///< without it
  double nanos = 0;              ///< of one tick
  double least_ticks = 1;        ///< that each computation has; those that are late have more
};

/// The best agreement (see Period) over all periods: what remains of a computation at its first
/// tick predicts how many more follow. Considers the first 1024 computations.
double agreement_of_frequent_noise(std::span<const Computed> computations,
                                   const FrequentNoise& noise);

}  // namespace eventspace
