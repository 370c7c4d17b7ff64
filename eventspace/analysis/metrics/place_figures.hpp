// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/place_figures.hpp — computations of a thread at one place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// One computation, in 16 bytes because there are many.
class KeptComputation {
 public:
  KeptComputation(std::int64_t begin, std::int64_t nanos, std::uint64_t sequence);
  std::int64_t begin() const { return begin_; }
  std::int64_t nanos() const;
  std::uint32_t sequence() const { return sequence_; }

 private:
  std::int64_t begin_;
  std::uint32_t span_;
  std::uint32_t sequence_;
};

/// Usual values of computations at the same place of the program.
struct UsualComputation {
  /// Median duration on the host's other threads. If the host has no other thread, it is the median
  /// duration on all threads of the cluster.
  std::int64_t median = 0;

  std::int64_t spread = 0;      ///< median minus 10th percentile, of the cluster's threads
  std::int64_t far_spread = 0;  ///< median minus 1st percentile, of the cluster's threads
};

/// Figures of a thread's computations at one place of its program. Finds the usual duration there,
/// and the noise in longer computations. The computations are kept until judge() has counted them.
class PlaceFigures {
 public:
  explicit PlaceFigures(std::size_t exact_max);

  void keep(const KeptComputation& kept);
  const Distribution& all() const { return all_; }  ///< durations of all computations
  std::span<const KeptComputation> kept() const { return kept_; }

  /// Finds the base, which is the usual duration, and the bound above which a computation is an
  /// outlier.
  void find_bounds(const UsualComputation& like);
  std::int64_t base() const { return base_; }
  /// Returns the mean duration. Requires: find_bounds().
  double mean() const { return mean_; }
  /// Returns the noise in a computation of `nanos`: the time by which it exceeds the base if it is
  /// an outlier, otherwise 0. Requires: find_bounds().
  std::int64_t noise_in(std::int64_t nanos) const { return nanos > outlier_ ? nanos - base_ : 0; }
  /// Counts one of the kept computations. Returns the noise in it. Requires: find_bounds().
  std::int64_t judge(const KeptComputation& kept);
  /// Finds the period of the noise in the kept computations. Requires: judge() was called for each
  /// kept computation.
  void find_periods();
  void drop_oldest(std::size_t count);

  void report(ThreadReport& thread) const;

 private:
  void find_own_bounds(const UsualComputation& like);
  void find_noise_in_all(const UsualComputation& like);

  Distribution all_;
  Blocks blocks_;
  Blocks begins_;
  Blocks quiet_;        // durations of computations without their noise
  Blocks disturbance_;  // noise of each computation; 0 for one that is no outlier
  Blocks late_;         // 1 for each computation that is an outlier, otherwise 0
  std::int64_t longest_nanos_ = -1;
  std::int64_t longest_begin_nanos_ = 0;
  Distribution noise_;  // time by which outliers exceed the base
  std::vector<KeptComputation> kept_;
  std::int64_t base_ = 0;
  std::int64_t outlier_ = 0;
  double mean_ = 0;
  // True if the thread is slower than others by a multiple of a noise event's duration, but noise
  // is not the reason. Noise is not the reason because fewer noise events than computations occur.
  bool is_noise_rare_ = false;
  bool is_noise_in_all_ = false;  // whether noise explains that the thread is slow
  std::vector<NoisePeriod> periods_;
  std::vector<SpectrumPoint> spectrum_;
};

}  // namespace eventspace
