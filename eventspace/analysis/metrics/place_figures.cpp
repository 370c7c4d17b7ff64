// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/place_figures.cpp — usual and late computations at one place of a
// program.
#include "eventspace/analysis/metrics/place_figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eventspace/analysis/metrics/period.hpp"
#include "eventspace/analysis/report/significance.hpp"

namespace eventspace {
namespace {

constexpr std::uint32_t in_micros = 1u << 31;

std::int64_t least_noise(std::int64_t base, std::int64_t spread) {
  return static_cast<std::int64_t>(
      std::max({outlier_share * static_cast<double>(base), static_cast<double>(outlier_nanos),
                outlier_spreads * static_cast<double>(spread)}));
}

/// Whether noise events are rarer than computations. The test: a period of noise that is longer
/// than a computation predicts the late computations clearly better than any shorter period does.
bool is_rare(const std::vector<Computed>& computed, const FrequentNoise& frequent) {
  constexpr double sure_agreement = 0.9;
  constexpr double clearly = 0.1;
  const auto periods = find_periods(computed);
  return !periods.empty() && periods.front().agreement >= sure_agreement &&
         periods.front().agreement > agreement_of_frequent_noise(computed, frequent) + clearly;
}

/// Returns the mean time from the begin of a computation to the begin of the next computation at
/// the same place. The time of noise and waits is included, because the period of noise events
/// continues during that time.
double iteration_of(const std::vector<KeptComputation>& kept) {
  if (kept.size() < 2) return 0;
  const auto [first, last] = std::minmax_element(
      kept.begin(), kept.end(),
      [](const KeptComputation& a, const KeptComputation& b) { return a.begin() < b.begin(); });
  return static_cast<double>(last->begin() - first->begin()) / static_cast<double>(kept.size() - 1);
}

/// Converts the kept computations of a place for find_periods(). `outlier` is the duration
/// above which a computation is late. A late computation counts with the duration `base`. After a
/// very long run, only the last computations are kept.
std::vector<Computed> computed_of(const std::vector<KeptComputation>& all, std::int64_t base,
                                  std::int64_t outlier) {
  std::vector<Computed> computed;
  computed.reserve(all.size());
  for (const KeptComputation& kept : all) {
    const bool is_late = kept.nanos() > outlier;
    computed.push_back(
        {kept.begin(), is_late ? base : kept.nanos(), is_late, is_late ? kept.nanos() - base : 0});
  }
  std::sort(computed.begin(), computed.end(),
            [](const Computed& a, const Computed& b) { return a.begin_nanos < b.begin_nanos; });
  return computed;
}

}  // namespace

/// Stores durations below 2^31 ns (about two seconds) in nanoseconds, and longer durations in
/// microseconds.
KeptComputation::KeptComputation(std::int64_t begin, std::int64_t nanos, std::uint64_t sequence)
    : begin_(begin), sequence_(static_cast<std::uint32_t>(sequence)) {
  if (nanos < in_micros) {
    span_ = static_cast<std::uint32_t>(nanos);
  } else {
    span_ =
        in_micros | static_cast<std::uint32_t>(std::min<std::int64_t>(nanos / 1000, in_micros - 1));
  }
}

std::int64_t KeptComputation::nanos() const {
  if ((span_ & in_micros) == 0) return span_;
  return static_cast<std::int64_t>(span_ & ~in_micros) * 1000;
}

PlaceFigures::PlaceFigures(std::size_t exact_max) : all_(exact_max), noise_(exact_max) {}

void PlaceFigures::keep(const KeptComputation& kept) {
  all_.add(kept.nanos());
  blocks_.add(kept.nanos());
  begins_.add(kept.begin());
  if (kept.nanos() > longest_nanos_) {
    longest_nanos_ = kept.nanos();
    longest_begin_nanos_ = kept.begin();
  }
  kept_.push_back(kept);
}

/// Finds the base of a thread's computations, and the bound above which a computation is an
/// outlier. If most computations contain noise, the noise changes the median, but not the 1st
/// percentile. The search therefore starts at the 1st percentile, plus the spread that is usual in
/// the cluster. It then computes base and bound from each other until they no longer change.
void PlaceFigures::find_own_bounds(const UsualComputation& like) {
  const std::int64_t median = all_.quantile(0.5);
  if (all_.count() < base_computations) {
    base_ = median;
    outlier_ = std::numeric_limits<std::int64_t>::max();
    return;
  }
  base_ = std::min(median, all_.quantile(0.01) + like.far_spread);
  std::int64_t spread = std::min(median - all_.quantile(0.1), like.spread);
  double share = 0;
  for (int round = 0; round < 10; ++round) {
    outlier_ = base_ + least_noise(base_, spread);
    const double below =
        static_cast<double>(all_.count_at_most(outlier_)) / static_cast<double>(all_.count());
    if (below == share || below == 0) break;
    share = below;
    base_ = all_.quantile(0.5 * share);
    spread = base_ - all_.quantile(0.1 * share);
  }
}

/// Corrects the bounds of a thread if all its computations contain noise. If noise events are more
/// frequent than computations, each computation contains n or n + 1 events. The difference between
/// these two kinds of computations is the duration of one event. In this case the thread is slower
/// than other threads by n events. But a thread with rarer noise may be slower by the same time for
/// a different reason. Only the period of the noise distinguishes the two cases (is_rare()).
void PlaceFigures::find_noise_in_all(const UsualComputation& like) {
  const double below =
      static_cast<double>(all_.count_at_most(outlier_)) / static_cast<double>(all_.count());
  if (1 - below < noise_in_all_share) return;
  const std::int64_t noise = all_.quantile((1 + below) / 2) - base_;
  const std::int64_t more = base_ - like.median;
  if (!noise_explains(more, noise)) return;
  const std::int64_t times = (more + noise / 2) / noise;
  is_noise_rare_ = is_rare(computed_of(kept_, base_, outlier_),
                           {.computation_nanos = static_cast<double>(base_ - times * noise),
                            .nanos = static_cast<double>(noise),
                            .least_ticks = static_cast<double>(times)});
  if (is_noise_rare_) return;
  is_noise_in_all_ = true;
  base_ -= times * noise;
  outlier_ = base_ + noise / 2;
}

void PlaceFigures::find_bounds(const UsualComputation& like) {
  mean_ = all_.mean();
  find_own_bounds(like);
  find_noise_in_all(like);
}

std::int64_t PlaceFigures::judge(const KeptComputation& kept) {
  const std::int64_t nanos = kept.nanos();
  const std::int64_t noise = noise_in(nanos);
  quiet_.add(nanos - noise);
  disturbance_.add(noise);
  late_.add(noise > 0 ? 1 : 0);
  if (noise > 0) noise_.add(noise);
  return noise;
}

void PlaceFigures::find_periods() {
  if (noise_.count() < period_outliers) return;
  const double iteration = iteration_of(kept_);
  for (const Period& one : eventspace::find_periods(computed_of(kept_, base_, outlier_))) {
    if (periods_.empty()) spectrum_ = one.spectrum;
    NoisePeriod period{.nanos = one.nanos,
                       .agreement = one.agreement,
                       .noise_nanos = static_cast<std::int64_t>(one.noise_nanos),
                       .computations = one.ticks,
                       .others = one.others};
    if (iteration > 0) {
      period.iterations = one.nanos / iteration;
      const double whole = std::round(period.iterations);
      period.resonates = whole >= 1 && whole <= resonance_iterations &&
                         std::abs(period.iterations - whole) <= resonance_share;
    }
    periods_.push_back(period);
  }
}

void PlaceFigures::drop_oldest(std::size_t count) {
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count));
}

void PlaceFigures::report(ThreadReport& thread) const {
  thread.computation = all_.summary();
  thread.computation_bins = all_.bins();
  thread.longest_begin_nanos = longest_begin_nanos_;
  thread.blocks = blocks_.rows();
  thread.block_begins = begins_.rows();
  thread.quiet_blocks = quiet_.rows();
  thread.noise_blocks = disturbance_.rows();
  thread.outlier_blocks = late_.rows();
  thread.is_noise_in_all = is_noise_in_all_;
  thread.base_nanos = base_;
  thread.outlier_nanos = outlier_;
  thread.outliers = noise_.count();
  thread.noise_nanos = noise_.sum();
  thread.noise_median_nanos = noise_.quantile(0.5);
  if (all_.sum() > 0)
    thread.noise_share = static_cast<double>(noise_.sum()) / static_cast<double>(all_.sum());
  thread.is_noise_rare = is_noise_rare_;
  thread.periods = periods_;
  thread.spectrum = spectrum_;
}

}  // namespace eventspace
