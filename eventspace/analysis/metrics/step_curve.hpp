// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/step_curve.hpp — curve of a number over time, in bounded memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/transfer_report.hpp"

namespace eventspace {

/// Records how a number of objects (the level) changes over time, in bounded memory. The curve has
/// at most `points_max` steps. If the level changes more often, neighbouring steps are merged.
/// Totals over the whole time remain exact.
class StepCurve {
 public:
  /// `full` is the greatest possible level; 0 means that there is no limit.
  explicit StepCurve(std::size_t points_max, std::uint64_t full = 0)
      : points_max_(points_max), full_(full) {}

  /// Sets the level from `at_nanos` on. Requires: times do not decrease.
  void set(std::int64_t at_nanos, std::uint64_t level);

  std::uint64_t level() const { return level_; }
  std::uint64_t most() const { return most_; }
  std::int64_t above_zero_nanos() const { return above_zero_nanos_; }
  std::int64_t full_nanos() const { return full_nanos_; }
  /// Returns a point for the begin of each step, and a last point for the end of the last step.
  /// Times count from `origin_nanos`.
  /// Requires: level() is 0.
  std::vector<TransferReport::Point> points(std::int64_t origin_nanos) const;

 private:
  struct Step {
    std::int64_t begin_nanos = 0;
    std::int64_t nanos = 0;
    double level_nanos = 0;  // integral of the level over the time of the step
    std::uint64_t most = 0;
  };
  void append(Step step);
  void widen();

  const std::size_t points_max_;
  const std::uint64_t full_;
  std::vector<Step> steps_;
  // Least duration of a step; a shorter step is merged with the next step.
  std::int64_t width_nanos_ = 0;
  std::int64_t since_nanos_ = 0;
  bool has_begun_ = false;
  std::uint64_t level_ = 0, most_ = 0;
  std::int64_t above_zero_nanos_ = 0, full_nanos_ = 0;
};

}  // namespace eventspace
