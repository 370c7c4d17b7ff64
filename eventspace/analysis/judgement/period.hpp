// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/judgement/period.hpp — the period of noise that is seen only while somebody
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
  /// How well "late when one of the ticks fell in it" describes the computations: the correlation
  /// of being late and being foretold.
  double agreement = 0;
  std::vector<SpectrumPoint> spectrum;  ///< of the first times it was late, at most 256 points
};

/// Computations in the order of time. Nothing when they are late too seldom (fewer than 8 times),
/// so often that most have more than one tick, or without a period.
///
/// Computations come in a regular row, so their times alone fit many periods equally well
/// (aliases). But a tick is seen only while the thread computes, so that its time of computing by
/// the times it was late says about what the period is, whatever it did in between; the spectrum
/// of the times (Rayleigh periodogram) around there says it exactly. Where a period is close to a
/// multiple of the iteration some aliases remain that fit as well: the one nearest to that is said.
std::optional<Period> find_period(std::span<const Computed> computations);

/// Noise so frequent that each computation has some.
struct FrequentNoise {
  double computation_nanos = 0;  ///< without it
  double nanos = 0;              ///< of one tick
  double least_ticks = 1;        ///< that each computation has; those that are late have more
};

/// The best agreement, as in Period, of any period: what is left of a computation at its first tick
/// foretells how many there will be. Looks at the first 1024 computations.
double agreement_of_frequent_noise(std::span<const Computed> computations,
                                   const FrequentNoise& noise);

}  // namespace eventspace
