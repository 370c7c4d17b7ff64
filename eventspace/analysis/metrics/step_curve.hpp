// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/step_curve.hpp — a number that changes now and then, over time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eventspace/analysis/report/transfer_report.hpp"

namespace eventspace {

/// How many of something there are, from 0 on. What is said of all of it is exact; of its course at
/// most `points_max` steps are kept, neighbours put together where there were more.
class StepCurve {
 public:
  /// `full`: the number that is all there can be; 0: there is none.
  explicit StepCurve(std::size_t points_max, std::uint64_t full = 0)
      : points_max_(points_max), full_(full) {}

  /// From then on; moments do not go back.
  void set(std::int64_t at_nanos, std::uint64_t level);

  std::uint64_t level() const { return level_; }
  std::uint64_t most() const { return most_; }
  std::int64_t above_zero_nanos() const { return above_zero_nanos_; }
  std::int64_t full_nanos() const { return full_nanos_; }
  /// The level from each moment to the next one's; the last has been set when it became 0.
  std::vector<TransferReport::Point> points(std::int64_t origin_nanos) const;

 private:
  struct Step {
    std::int64_t begin_nanos = 0;
    std::int64_t nanos = 0;
    double level_nanos = 0;  // its integral
    std::uint64_t most = 0;
  };
  void append(Step step);
  void widen();

  const std::size_t points_max_;
  const std::uint64_t full_;
  std::vector<Step> steps_;
  std::int64_t width_nanos_ = 0;  // what is less wide is put together with what follows
  std::int64_t since_nanos_ = 0;
  bool has_begun_ = false;
  std::uint64_t level_ = 0, most_ = 0;
  std::int64_t above_zero_nanos_ = 0, full_nanos_ = 0;
};

}  // namespace eventspace
