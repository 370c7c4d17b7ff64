// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/significance.hpp — constants of findings, and comparisons that tell
// differences from chance.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "eventspace/analysis/report/bootstrap.hpp"

namespace eventspace {

// Significance and cost. A finding needs a difference that chance does not explain, and a cost.

/// Probability that a report of a run without any cause names something by chance. All comparisons
/// of a report are corrected together, so it does not grow with the size of the run.
/// Paper: Holm 1979.
inline constexpr double chance_share = 0.01;
/// Least cost of a finding, as a share of the run's time. The option `--name-from` replaces it.
inline constexpr double name_from_share = 0.001;
/// Cost from which long computations are named even if there are too few for a comparison, as a
/// share of the run's time. One long computation is enough.
inline constexpr double always_named_share = 0.01;

// Likeness. These limits decide what is compared, and what is one finding.

/// Slow hosts of one cluster whose computations differ by at most this share are one finding.
inline constexpr double alike_share = 0.1;
/// Number of others that a link, network or cluster is compared with, at least, and the factor
/// within which the middle half of them must be.
inline constexpr std::size_t like_others_least = 3;
inline constexpr double like_others_factor = 1.1;
/// A thread is slow only if its short computations are long, too. Otherwise only some of its
/// computations are long. Its 10th percentile must therefore exceed that of the others by at least
/// this share of the difference of the means. The same holds for the median of a member of a group,
/// and for the fastest message on a link between members.
inline constexpr double shifted_share = 0.5;

// Noise.

/// Limits of an outlier. The base of a thread is the usual duration of its computations without
/// noise. A computation is an outlier if it exceeds the base by each of three limits: a share of
/// the base, a time, and a multiple of the usual spread. The spread is the time from the 10th
/// percentile to the median.
inline constexpr double outlier_share = 0.02;
inline constexpr std::int64_t outlier_nanos = 50'000;
inline constexpr double outlier_spreads = 4;
/// Least number of computations at a place of the program from which outliers are determined. With
/// fewer, none of them is an outlier.
inline constexpr std::uint64_t base_computations = 16;
/// Limits for noise that occurs in all computations of a thread. If at least the fraction
/// noise_in_all_share of the computations are outliers, the other computations may contain noise
/// events, too. At most noise_in_all_times events per computation are considered. They explain the
/// time by which a thread is slower than others if the rest is at most noise_tolerance of an event.
inline constexpr double noise_in_all_share = 0.05;
inline constexpr std::int64_t noise_in_all_times = 3;
inline constexpr double noise_tolerance = 0.1;
/// Least number of outliers in which a period is searched. Fewer that are always named are a stall.
inline constexpr std::uint64_t period_outliers = 5;
/// Limits of a resonance between noise and iterations. In a resonance, the period of the noise is
/// almost a whole number of iterations, at most resonance_iterations. It differs from the whole
/// number by at most resonance_share.
inline constexpr double resonance_iterations = 20;
inline constexpr double resonance_share = 0.02;

// Replies.

/// Least delay of a late reply: the time from the arrival of a result at a host to its last reply
/// to another host. The reply counts as late only if the host replied to one of its own
/// contributors before.
inline constexpr std::int64_t late_reply_least_nanos = 1'000'000;

// Changes over time.

/// A run is divided into at most 256 blocks of rounds. A level is at least this many consecutive
/// blocks with another mean.
inline constexpr std::size_t change_blocks = 3;
/// Least difference of two levels in the search, as a multiple of its standard deviation if the
/// blocks did not depend on each other. A comparison then tells whether they do.
inline constexpr double change_deviations = 8;

/// Whether noise in all computations explains that a thread computes longer by `more_nanos`: the
/// time is a small multiple of the duration of one event of noise.
bool noise_explains(std::int64_t more_nanos, std::int64_t event_nanos);

/// Comparison of a mean with the usual one. Both are in nanoseconds.
struct Compared {
  double nanos = 0;
  double usual_nanos = 0;
  /// Confidence interval of the difference. Known after Comparisons::correct().
  double low = 0;
  double high = 0;
  bool is_known = false;  ///< false if there are too few rows to compare
  double difference() const { return nanos - usual_nanos; }
  /// Whether the mean is longer than the usual one, and not by chance.
  bool is_longer() const { return is_known && low > 0; }
};

/// All comparisons of a report. They are corrected together, so that all intervals hold at the same
/// time with a probability of 1 - chance_share.
///
/// Borrows the rows, which must outlive it.
class Comparisons {
 public:
  /// Adds a comparison. Returns its number.
  std::size_t add(const BlockRows& rows, const BlockRows& usual);
  /// The same with a usual value that is known exactly.
  std::size_t add(const BlockRows& rows, double usual_nanos);
  /// The same with estimates. `searched` is the number of places at which the difference was
  /// searched, of which this one is the most different.
  std::size_t add(const MeanEstimate& one, const MeanEstimate& usual, std::size_t searched);
  /// Computes the intervals. Call once, after the last add().
  void correct();
  const Compared& at(std::size_t number) const { return all_[number].compared; }
  /// Returns the estimate of a mean. Requires: at least resampled_rows_least rows.
  const MeanEstimate& estimate_of(const BlockRows& rows);
  /// The same for rows that need not outlive the object.
  MeanEstimate estimate_once(const BlockRows& rows) { return estimate_mean(rows, random_); }

 private:
  struct One {
    Compared compared;
    double deviation = 0;
    double freedom = 1;
    std::size_t searched = 1;
    double outside = 1;  // probability that chance alone makes so great a difference
  };
  std::vector<One> all_;
  std::map<const BlockRows*, MeanEstimate> estimates_;
  std::mt19937_64 random_{1};  // a fixed seed, so that reports are repeatable
};

}  // namespace eventspace
