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

/// Probability that a report names something by chance although the run has no cause of lost time.
/// All comparisons of a report are corrected together, so the probability does not grow with the
/// size of the run.
/// Paper: Holm 1979.
inline constexpr double chance_share = 0.01;
/// Least cost of a finding, as a share of the run's time. The option `--name-from` replaces it.
inline constexpr double name_from_share = 0.001;
/// Least cost at which long computations are named even if there are too few of them for a
/// comparison. The cost is a share of the run's time. One long computation may cost enough.
inline constexpr double always_named_share = 0.01;

// Likeness. These limits decide what is compared, and what is one finding.

/// Slow hosts of one cluster whose computations differ by at most this share are one finding.
inline constexpr double alike_share = 0.1;
/// A link, network or cluster is compared with others of its kind only under two conditions. There
/// must be at least like_others_least others. The values of the middle half of the others must
/// differ by at most the factor like_others_factor.
inline constexpr std::size_t like_others_least = 3;
inline constexpr double like_others_factor = 1.1;
/// A thread is slow only if even its short computations are longer than usual. The 10th percentile
/// of its computations must therefore exceed that of other threads by this share of the difference
/// of the means. The same rule applies to the median of a member of a group, and to the fastest
/// message on a link between members.
inline constexpr double shifted_share = 0.5;

// Noise.

/// Limits of an outlier. The base of a thread is the usual duration of its computations without
/// noise. A computation is an outlier if it exceeds the base by each of three limits: a share of
/// the base, a time, and a multiple of the usual spread. The spread is the time from the 10th
/// percentile to the median.
inline constexpr double outlier_share = 0.02;
inline constexpr std::int64_t outlier_nanos = 50'000;
inline constexpr double outlier_spreads = 4;
/// Least number of computations at a place of the program for which outliers are determined. If
/// there are fewer computations, none of them is an outlier.
inline constexpr std::uint64_t base_computations = 16;
/// Limits for noise that occurs in all computations of a thread. If at least the fraction
/// noise_in_all_share of the computations are outliers, the other computations may contain noise
/// events, too. At most noise_in_all_times events per computation are considered. The events
/// explain why a thread is slower than others if their number times their duration is close to the
/// difference: within noise_tolerance of the duration of an event.
inline constexpr double noise_in_all_share = 0.05;
inline constexpr std::int64_t noise_in_all_times = 3;
inline constexpr double noise_tolerance = 0.1;
/// Least number of outliers for which the analysis searches a period. Fewer outliers are a stall if
/// they cost at least always_named_share.
inline constexpr std::uint64_t period_outliers = 5;
/// Limits of a resonance between noise and iterations. In a resonance, the period of the noise is
/// almost a whole number of iterations, at most resonance_iterations. It differs from the whole
/// number by at most resonance_share.
inline constexpr double resonance_iterations = 20;
inline constexpr double resonance_share = 0.02;

// Replies.

/// Least delay of a late reply. The delay is the time from the arrival of a result at a host to the
/// last reply of the host to another host. The reply counts as late only if the host first replied
/// to a contributor of its own.
inline constexpr std::int64_t late_reply_least_nanos = 1'000'000;

// Changes over time.

/// A run is divided into at most 256 blocks of rounds. A level is a sequence of at least this many
/// blocks whose mean differs from that of the blocks next to it.
inline constexpr std::size_t change_blocks = 3;
/// Least difference of two means for the search to find them, as a multiple of the difference's
/// standard deviation. The search treats blocks as independent; the later comparison takes their
/// dependence into account.
inline constexpr double change_deviations = 8;

/// Whether noise in all computations explains that a thread computes longer by `more_nanos`: the
/// time is a small multiple of the duration of one event of noise.
bool noise_explains(std::int64_t more_nanos, std::int64_t event_nanos);

/// Comparison of a mean with the usual mean. Both means are in nanoseconds.
struct Compared {
  double nanos = 0;
  double usual_nanos = 0;
  /// Confidence interval of the difference. Comparisons::correct() computes it.
  double low = 0;
  double high = 0;
  bool is_known = false;  ///< false if there are too few rows to compare
  double difference() const { return nanos - usual_nanos; }
  /// Whether the mean is longer than the usual mean, and not by chance.
  bool is_longer() const { return is_known && low > 0; }
};

/// All comparisons of a report. They are corrected together: with a probability of 1 -
/// chance_share, all confidence intervals are correct at the same time.
///
/// Borrows the rows, which must outlive the Comparisons object.
class Comparisons {
 public:
  /// Adds a comparison. Returns its number.
  std::size_t add(const BlockRows& rows, const BlockRows& usual);
  /// Adds a comparison with a usual value that is known exactly. Returns its number.
  std::size_t add(const BlockRows& rows, double usual_nanos);
  /// Adds a comparison of two estimates. Returns its number. The caller selected the place with the
  /// largest difference among `searched` places.
  std::size_t add(const MeanEstimate& one, const MeanEstimate& usual, std::size_t searched);
  /// Computes the intervals. Call once, after the last add().
  void correct();
  const Compared& at(std::size_t number) const { return all_[number].compared; }
  /// Returns the estimate of a mean. Requires: at least resampled_rows_least rows.
  const MeanEstimate& estimate_of(const BlockRows& rows);
  /// Returns the estimate of a mean. The Comparisons object keeps no reference to `rows`.
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
