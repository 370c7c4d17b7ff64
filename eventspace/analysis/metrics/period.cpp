// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/period.cpp — search for the periods of noise that shows only while a
// thread computes.
#include "eventspace/analysis/metrics/period.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

namespace eventspace {
namespace {

constexpr std::size_t least_late = 8;
constexpr std::size_t first_look = 128;  // maximum number of late computations in the spectrum
constexpr std::size_t peaks_kept = 12;
/// A range of periods that find_period() searches. `longest` is a multiple of the longest period
/// that is possible if the noise has one period. `highest` is a multiple of 1 / `guess`, where
/// `guess` is the estimate of this period. If no period in a range fits, the next range is
/// searched.
struct SearchRange {
  double longest = 1, highest = 1;
  bool is_for_several = false;  // whether a period need not explain all late computations
};
constexpr SearchRange search_ranges[] = {
    {1, 1.6},
    {1, 5},          // noise events (ticks) that occur mostly outside of computations
    {8, 1.6, true},  // several periods; each is longer than `guess`
};
constexpr std::size_t periods_most = 3;
constexpr std::size_t searches_most = 6;
constexpr std::size_t others_most = 2;
/// Least share of all late computations that a further period explains. The first period may leave
/// some computations unexplained whose ticks are at their edges.
constexpr double least_share_of_late = 0.05;
constexpr double oversampling = 4;
/// Maximum number of frequencies to try. If more frequencies were necessary, the thread computes so
/// rarely that ticks (noise events) do not explain its late computations.
constexpr double frequencies_most = 300'000;
/// Least power of a peak in the spectrum. If the times were random, a frequency would exceed this
/// power with probability exp(-power), about 6e-6. The probability must be this low because
/// thousands of frequencies are tried.
constexpr double least_power = 12;
constexpr double least_agreement = 0.6;
/// Least share of the late computations that one of several periods explains.
constexpr double least_explained = 0.15;
/// Least precision of one of several periods: 1 if all computations with its ticks are late, and 0
/// if only as many of them are late as by chance.
constexpr double least_precision = 0.75;
/// Least power of a period's peak after all times were used, as a share of the number of times. One
/// of several periods explains only a part of the times, so its peak is lower.
constexpr double least_power_share = 0.1;
constexpr double least_power_share_of_several = 0.02;
constexpr double as_good = 0.02;
/// Two periods whose ratio is closer to 1 than this are the same period.
constexpr double same_period = 0.02;
/// Part of a computation by which a tick may be outside of it because of errors of the estimate.
constexpr double edge_share = 0.05;
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

/// Computes the frequency and phase of a peak again, several times, from the times that fit it. A
/// time fits if it is within `reach` of a tick. Late computations without a tick of this period
/// then have no effect.
Peak fit_again(std::span<const double> times, Peak peak, double reach) {
  constexpr int rounds = 4;
  const double power = peak.power;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> fitting;
    std::copy_if(times.begin(), times.end(), std::back_inserter(fitting), [&](double time) {
      const double turns = time * peak.frequency - peak.phase;
      return std::abs(turns - std::round(turns)) <= reach * peak.frequency;
    });
    if (fitting.size() < least_late || fitting.back() <= fitting.front()) break;
    const double unsure = 1 / (oversampling * (fitting.back() - fitting.front()));
    peak = best_near(fitting, peak.frequency, unsure);
    peak = best_near(fitting, peak.frequency, unsure / 20);
  }
  peak.power = power;
  return peak;
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
  /// Returns the number of late computations that were predicted to be late.
  double both() const { return both_; }
  /// Returns whether the prediction fits one of several periods: it announces only a part of the
  /// late computations, but few computations that are not late.
  bool explains_part() const {
    if (both_ < least_late || both_ < least_explained * late_ || late_ >= all_) return false;
    const double chance = late_ / all_;
    return both_ / announced_ - chance >= least_precision * (1 - chance);
  }

 private:
  double all_ = 0, late_ = 0, announced_ = 0, both_ = 0;
};

/// Times of the ticks (noise events) of a period, in nanoseconds after the begin of the first
/// computation.
struct Ticks {
  double frequency = 0;
  double phase = 0;  // time of a tick in periods
  /// A tick so long before a computation still delays it, because the noise has not ended.
  double lead_nanos = 0;

  /// Returns whether a tick delays a computation. `slack` extends the computation on both sides.
  bool delay(const Computed& one, double origin, double slack = 0) const {
    const double begin = static_cast<double>(one.begin_nanos) - origin - lead_nanos - slack;
    const double end =
        static_cast<double>(one.begin_nanos) - origin + static_cast<double>(one.nanos) + slack;
    return std::ceil(begin * frequency - phase) <= end * frequency - phase;
  }
};

/// Returns the ticks of a peak in the spectrum of the middles of late computations. The ticks are
/// earlier than these middles by half of `lead_nanos` on average.
Ticks ticks_of(const Peak& peak, double lead_nanos) {
  return {peak.frequency, peak.phase - lead_nanos / 2 * peak.frequency, lead_nanos};
}

Ticks ticks_of(const Period& period) { return {1 / period.nanos, period.phase, period.lead_nanos}; }

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Agreement agreement_of(std::span<const Computed> computations, const Ticks& ticks, double origin) {
  Agreement agreement;
  for (const Computed& one : computations) agreement.add(one.is_late, ticks.delay(one, origin));
  return agreement;
}

/// Returns the median duration of the noise in the computations that the ticks delay.
double noise_of(std::span<const Computed> computations, const Ticks& ticks, double origin) {
  std::vector<double> noise;
  for (const Computed& one : computations)
    if (one.is_late && ticks.delay(one, origin))
      noise.push_back(static_cast<double>(one.noise_nanos));
  return median_of(std::move(noise));
}

struct Fit {
  Ticks ticks;
  Agreement agreement;
};

Fit fit_of(std::span<const Computed> computations, const Peak& peak, double lead_nanos,
           double origin) {
  const Ticks ticks = ticks_of(peak, lead_nanos);
  return {ticks, agreement_of(computations, ticks, origin)};
}

/// Returns the periods that predict well which computations are late: with at least
/// least_agreement, or well enough for one of several periods. Tries only periods near the peaks in
/// the spectrum of the first `known` times.
std::vector<Period> fitting_of(std::span<const Computed> computations,
                               std::span<const double> times, std::size_t known,
                               const std::vector<Peak>& peaks, double origin,
                               bool is_one_of_several) {
  const double least_share = is_one_of_several ? least_power_share_of_several : least_power_share;
  double reach = 0;  // half of a computation, from whose middle a tick is that far away at most
  for (const Computed& one : computations) reach += static_cast<double>(one.nanos) / 2;
  reach /= static_cast<double>(computations.size());
  std::vector<Period> fitting;
  for (Peak peak : peaks) {
    if (peak.power < std::min(least_power, static_cast<double>(known) * 0.6)) continue;
    peak = sharpen(times, peak, known);
    if (peak.power < least_share * static_cast<double>(times.size())) continue;
    Fit best = fit_of(computations, peak, 0, origin);
    const double noise = noise_of(computations, best.ticks, origin);
    for (const double lead : {0.0, noise}) {
      const Peak again = fit_again(times, peak, reach + lead / 2);
      for (const Peak& one : {peak, again})
        if (const Fit other = fit_of(computations, one, lead, origin);
            other.agreement.value() > best.agreement.value())
          best = other;
    }
    const Agreement& agreement = best.agreement;
    if (agreement.value() < least_agreement && !(is_one_of_several && agreement.explains_part()))
      continue;
    fitting.push_back({.nanos = 1 / best.ticks.frequency,
                       .agreement = agreement.value(),
                       .phase = best.ticks.phase,
                       .lead_nanos = best.ticks.lead_nanos,
                       .ticks = static_cast<std::uint64_t>(agreement.both()),
                       .noise_nanos = noise,
                       .others = {},
                       .spectrum = {}});
  }
  return fitting;
}

bool are_same(const Period& one, const Period& other) {
  return std::abs(one.nanos / other.nanos - 1) < same_period;
}

/// Returns the period with the best agreement. If several periods have about the same agreement,
/// returns the period nearest to its own estimate: the total time of computations, divided by the
/// number of its ticks. The next ones are its `others`.
std::optional<Period> best_of(std::vector<Period> fitting, double computed) {
  double most = 0;
  for (const Period& one : fitting) most = std::max(most, one.agreement);
  std::erase_if(fitting, [most](const Period& one) { return one.agreement < most - as_good; });
  const auto distance = [computed](const Period& one) {
    return std::abs(std::log(one.nanos * static_cast<double>(one.ticks) / computed));
  };
  std::stable_sort(fitting.begin(), fitting.end(), [&](const Period& one, const Period& other) {
    return distance(one) < distance(other);
  });
  if (fitting.empty()) return std::nullopt;
  std::vector<Period> different = {fitting.front()};
  for (const Period& one : fitting)
    if (std::none_of(different.begin(), different.end(),
                     [&](const Period& other) { return are_same(one, other); }))
      different.push_back(one);
  Period best = std::move(fitting.front());
  for (std::size_t place = 1; place < different.size() && place <= others_most; ++place)
    best.others.push_back(different[place].nanos);
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

namespace {

/// Finds the period that explains the late computations best. Times count from `origin`.
std::optional<Period> find_period(std::span<const Computed> computations, double origin) {
  if (computations.empty()) return std::nullopt;
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
  const double elapsed = times.back() - times.front();
  const double longest = std::max(guess, elapsed / static_cast<double>(times.size())) * 1.05;
  const std::size_t known = std::min(first_look, times.size());
  for (const SearchRange& range : search_ranges) {
    const auto powers = powers_between(std::span(times).first(known), 1 / (range.longest * longest),
                                       range.highest / guess);
    auto best = best_of(
        fitting_of(computations, times, known, peaks_of(powers), origin, range.is_for_several),
        computed);
    if (!best) continue;
    best->spectrum = spectrum_of(powers);
    return best;
  }
  return std::nullopt;
}

/// Removes the computations that the ticks of a period delay. A late computation is also removed if
/// a tick is almost in it, because frequency and phase are estimates.
void remove_explained(const Period& period, double origin, std::vector<Computed>& computations) {
  Ticks ticks = ticks_of(period);
  ticks.lead_nanos = std::max(ticks.lead_nanos, period.noise_nanos);
  std::erase_if(computations, [&](const Computed& one) {
    return ticks.delay(one, origin, one.is_late ? edge_share * static_cast<double>(one.nanos) : 0);
  });
}

/// Sets Period::ticks and Period::noise_nanos. The noise of a period is measured in computations
/// that no other period delays, if there are any.
void count_ticks(std::vector<Period>& periods, std::span<const Computed> computations,
                 double origin) {
  for (Period& period : periods) {
    period.ticks = 0;
    std::vector<double> alone, all;
    for (const Computed& one : computations) {
      if (!one.is_late || !ticks_of(period).delay(one, origin)) continue;
      ++period.ticks;
      all.push_back(static_cast<double>(one.noise_nanos));
      if (std::none_of(periods.begin(), periods.end(), [&](const Period& other) {
            return &other != &period && ticks_of(other).delay(one, origin);
          }))
        alone.push_back(all.back());
    }
    period.noise_nanos = median_of(alone.empty() ? std::move(all) : std::move(alone));
  }
}

}  // namespace

std::vector<Period> find_periods(std::span<const Computed> computations) {
  if (computations.empty()) return {};
  const auto origin = static_cast<double>(computations.front().begin_nanos);
  std::vector<Computed> left(computations.begin(), computations.end());
  const auto late = static_cast<double>(
      std::count_if(left.begin(), left.end(), [](const Computed& one) { return one.is_late; }));
  std::vector<Period> periods;
  for (std::size_t search = 0; search < searches_most && periods.size() < periods_most; ++search) {
    auto period = find_period(left, origin);
    if (!period || static_cast<double>(period->ticks) < least_share_of_late * late) break;
    remove_explained(*period, origin, left);
    // Computations that have a tick at their edge may fit the same period with another phase.
    if (std::none_of(periods.begin(), periods.end(),
                     [&](const Period& other) { return are_same(*period, other); }))
      periods.push_back(*std::move(period));
  }
  count_ticks(periods, computations, origin);
  std::stable_sort(periods.begin(), periods.end(), [](const Period& a, const Period& b) {
    return a.noise_nanos * static_cast<double>(a.ticks) >
           b.noise_nanos * static_cast<double>(b.ticks);
  });
  return periods;
}

}  // namespace eventspace
