// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/period.cpp — search for the period of noise that shows only while a
// thread computes.
#include "eventspace/analysis/metrics/period.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace eventspace {
namespace {

constexpr std::size_t least_late = 8;
constexpr std::size_t first_look = 128;  // maximum number of late computations in the spectrum
constexpr std::size_t peaks_kept = 12;
/// Highest frequencies of the two ranges that find_period() searches. They are multiples of 1 /
/// `guess`, where `guess` is the estimated period. If no period in the first range fits,
/// find_period() searches the second range. It is for noise events (ticks) that occur mostly
/// outside of computations.
constexpr double search_factors[] = {1.6, 5};
constexpr double oversampling = 4;
/// Maximum number of frequencies to try. If more frequencies were necessary, the thread computes so
/// rarely that ticks (noise events) do not explain its late computations.
constexpr double frequencies_most = 300'000;
/// Least power of a peak in the spectrum. If the times were random, a frequency would exceed this
/// power with probability exp(-power), about 6e-6. The probability must be this low because
/// thousands of frequencies are tried.
constexpr double least_power = 12;
constexpr double least_agreement = 0.6;
constexpr double as_good = 0.02;
constexpr std::size_t spectrum_points = 256;

struct Peak {
  double frequency = 0;  // unit: 1 / nanosecond
  // Power n r². Each of the n times is a unit vector on a circle; a full turn is one period. r is
  // the length of the mean of these vectors.
  double power = 0;
  double phase = 0;  // direction of the mean vector, in turns
};

Peak peak_at(std::span<const double> times, double frequency) {
  std::complex<double> sum;
  for (const double time : times) {
    const double turns = time * frequency;
    sum += std::polar(1.0, 2 * std::numbers::pi * (turns - std::floor(turns)));
  }
  return {frequency, std::norm(sum) / static_cast<double>(times.size()),
          std::arg(sum) / (2 * std::numbers::pi)};
}

/// Returns the power of the frequencies from `from` to `to`, in steps that are smaller than the
/// width of a peak. Returns an empty vector if there would be too many steps.
std::vector<Peak> powers_between(std::span<const double> times, double from, double to) {
  const double step = 1 / (oversampling * (times.back() - times.front()));
  std::vector<Peak> all;
  if (!((to - from) / step <= frequencies_most)) return all;
  for (double frequency = from; frequency <= to; frequency += step)
    all.push_back(peak_at(times, frequency));
  return all;
}

/// Returns a spectrum as points for the report. If there are too many points, replaces each group
/// of neighbouring points by its point with the greatest power.
std::vector<SpectrumPoint> spectrum_of(const std::vector<Peak>& all) {
  const std::size_t together = (all.size() + spectrum_points - 1) / spectrum_points;
  std::vector<SpectrumPoint> points;
  for (std::size_t place = 0; place < all.size(); ++place) {
    const SpectrumPoint point{all[place].frequency * 1e9, all[place].power};
    if (place % together == 0) {
      points.push_back(point);
    } else if (point.power > points.back().power) {
      points.back() = point;
    }
  }
  return points;
}

/// Returns the greatest local maxima of a spectrum, in descending order of their power.
std::vector<Peak> peaks_of(const std::vector<Peak>& all) {
  std::vector<Peak> peaks;
  for (std::size_t place = 0; place < all.size(); ++place) {
    const bool rises = place == 0 || all[place].power >= all[place - 1].power;
    const bool falls = place + 1 == all.size() || all[place].power > all[place + 1].power;
    if (rises && falls) peaks.push_back(all[place]);
  }
  const auto kept = std::min(peaks_kept, peaks.size());
  std::partial_sort(peaks.begin(), peaks.begin() + static_cast<std::ptrdiff_t>(kept), peaks.end(),
                    [](const Peak& a, const Peak& b) { return a.power > b.power; });
  peaks.resize(kept);
  return peaks;
}

Peak best_near(std::span<const double> times, double frequency, double reach) {
  constexpr int steps = 20;
  Peak best = peak_at(times, frequency);
  for (int place = -steps; place <= steps; ++place) {
    const Peak near = peak_at(times, frequency + place * reach / steps);
    if (near.power > best.power) best = near;
  }
  return best;
}

/// Computes the frequency of a peak more exactly, in several steps. Each step uses more times than
/// the step before. More times give a narrower peak, so each step searches only near the result of
/// the step before.
Peak sharpen(std::span<const double> times, Peak peak, std::size_t known) {
  const auto unsure = [&] { return 1 / (oversampling * (times[known - 1] - times.front())); };
  while (known < times.size()) {
    const double reach = unsure();
    known = std::min(times.size(), 2 * known);
    peak = best_near(times.first(known), peak.frequency, reach);
  }
  peak = best_near(times, peak.frequency, unsure());
  return best_near(times, peak.frequency, unsure() / 20);
}

/// Correlation between the computations that are late and the computations that a period predicts
/// to be late. If the period predicts that all computations are late, the correlation is 0, even if
/// most computations are late.
class Agreement {
 public:
  void add(bool is_late, bool is_announced) {
    ++all_;
    late_ += is_late;
    announced_ += is_announced;
    both_ += is_late && is_announced;
  }
  double value() const {
    const double spread = late_ * (all_ - late_) * announced_ * (all_ - announced_);
    return spread <= 0 ? 0 : (all_ * both_ - late_ * announced_) / std::sqrt(spread);
  }

 private:
  double all_ = 0, late_ = 0, announced_ = 0, both_ = 0;
};

double agreement_of(std::span<const Computed> computations, const Peak& peak, double origin) {
  Agreement agreement;
  for (const Computed& one : computations) {
    const double begin = static_cast<double>(one.begin_nanos) - origin;
    const double end = begin + static_cast<double>(one.nanos);
    const double first = std::ceil(begin * peak.frequency - peak.phase);
    agreement.add(one.is_late, first <= end * peak.frequency - peak.phase);
  }
  return agreement.value();
}

/// Returns the periods that predict well which computations are late: with at least
/// least_agreement. Tries only periods near the peaks in the spectrum of the first `known` times.
std::vector<Period> fitting_of(std::span<const Computed> computations,
                               std::span<const double> times, std::size_t known,
                               const std::vector<Peak>& peaks) {
  const auto origin = static_cast<double>(computations.front().begin_nanos);
  std::vector<Period> fitting;
  for (Peak peak : peaks) {
    if (peak.power < std::min(least_power, static_cast<double>(known) * 0.6)) continue;
    peak = sharpen(times, peak, known);
    if (peak.power < 0.1 * static_cast<double>(times.size())) continue;
    const double agreement = agreement_of(computations, peak, origin);
    if (agreement >= least_agreement) fitting.push_back({1 / peak.frequency, agreement, {}});
  }
  return fitting;
}

/// Returns the period with the best agreement. If several periods have about the same agreement,
/// returns the period nearest to `guess`.
std::optional<Period> best_of(const std::vector<Period>& fitting, double guess) {
  double most = 0;
  for (const Period& one : fitting) most = std::max(most, one.agreement);
  std::optional<Period> best;
  const auto distance = [guess](const Period& one) {
    return std::abs(std::log(one.nanos / guess));
  };
  for (const Period& one : fitting) {
    if (one.agreement < most - as_good) continue;
    if (!best || distance(one) < distance(*best)) best = one;
  }
  return best;
}

/// Returns how well a period of frequent noise predicts the late computations. Each noise event
/// (tick) delays the rest of the computation. The next tick follows a period later. A computation
/// whose first tick is early enough therefore contains one tick more than other computations.
double agreement_of_early_ticks(std::span<const Computed> computations, const Peak& peak,
                                double origin, const FrequentNoise& noise) {
  const double period = 1 / peak.frequency;
  const double early =
      (noise.computation_nanos - noise.least_ticks * (period - noise.nanos)) / period;
  Agreement agreement;
  for (const Computed& one : computations) {
    // The phase is the mean of the begins of late computations. In late computations the first tick
    // is early. The phase is therefore the middle of the range of begins from which the first tick
    // is early.
    const double turns =
        (static_cast<double>(one.begin_nanos) - origin) * peak.frequency - peak.phase;
    agreement.add(one.is_late, std::abs(turns - std::round(turns)) <= early / 2);
  }
  return agreement.value();
}

}  // namespace

double agreement_of_frequent_noise(std::span<const Computed> computations,
                                   const FrequentNoise& noise) {
  constexpr std::size_t looked_at = 1024;
  const auto some = computations.first(std::min(looked_at, computations.size()));
  std::vector<double> begins;  // begins of late computations
  for (const Computed& one : some)
    if (one.is_late)
      begins.push_back(static_cast<double>(one.begin_nanos - some.front().begin_nanos));
  if (begins.size() < least_late || begins.back() <= begins.front()) return 0;
  const double longest =
      (noise.computation_nanos + (noise.least_ticks - 1) * noise.nanos) / noise.least_ticks;
  const double shortest = noise.computation_nanos / (noise.least_ticks + 2) + noise.nanos;
  const double reach = 1 / (oversampling * (begins.back() - begins.front()));
  double best = 0;
  for (const Peak& peak : peaks_of(powers_between(begins, 1 / longest, 1 / shortest)))
    best = std::max(best,
                    agreement_of_early_ticks(some, best_near(begins, peak.frequency, reach),
                                             static_cast<double>(some.front().begin_nanos), noise));
  return best;
}

std::optional<Period> find_period(std::span<const Computed> computations) {
  if (computations.empty()) return std::nullopt;
  const auto origin = static_cast<double>(computations.front().begin_nanos);
  // Middle of each late computation. It is the estimated time of the computation's tick (noise
  // event).
  std::vector<double> times;
  double computed = 0;
  for (const Computed& one : computations) {
    computed += static_cast<double>(one.nanos);
    if (!one.is_late) continue;
    times.push_back(static_cast<double>(one.begin_nanos) - origin +
                    static_cast<double>(one.nanos) / 2);
  }
  if (times.size() < least_late || times.back() <= times.front()) return std::nullopt;
  const double guess = computed / static_cast<double>(times.size());
  if (guess < computed / static_cast<double>(computations.size()) * 1.02) return std::nullopt;
  // Each noise event (tick) makes at most one computation late. If the period is a multiple of the
  // iteration, ticks occur during computations far more often than by chance. In this case the
  // period may be longer than `guess`.
  const double elapsed = static_cast<double>(computations.back().begin_nanos) - origin;
  const double longest = std::max(guess, elapsed / static_cast<double>(times.size())) * 1.05;
  const std::size_t known = std::min(first_look, times.size());
  for (const double factor : search_factors) {
    const auto powers = powers_between(std::span(times).first(known), 1 / longest, factor / guess);
    auto best = best_of(fitting_of(computations, times, known, peaks_of(powers)), guess);
    if (!best) continue;
    best->spectrum = spectrum_of(powers);
    return best;
  }
  return std::nullopt;
}

}  // namespace eventspace
