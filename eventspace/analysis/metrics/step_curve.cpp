// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/step_curve.cpp — merging of neighbouring steps of a curve.
#include "eventspace/analysis/metrics/step_curve.hpp"

#include <algorithm>
#include <utility>

#include "eventspace/analysis/report/distribution.hpp"

namespace eventspace {

void StepCurve::set(std::int64_t at_nanos, std::uint64_t level) {
  if (level == level_) return;
  if (has_begun_ && at_nanos > since_nanos_) {
    const std::int64_t nanos = at_nanos - since_nanos_;
    if (level_ > 0) add_to(above_zero_nanos_, nanos);
    if (full_ > 0 && level_ >= full_) add_to(full_nanos_, nanos);
    append({since_nanos_, nanos, static_cast<double>(level_) * static_cast<double>(nanos), level_});
  }
  has_begun_ = true;
  since_nanos_ = at_nanos;
  level_ = level;
  most_ = std::max(most_, level);
}

void StepCurve::append(Step step) {
  if (!steps_.empty() && steps_.back().nanos < width_nanos_) {
    Step& last = steps_.back();
    last.nanos += step.nanos;
    last.level_nanos += step.level_nanos;
    last.most = std::max(last.most, step.most);
    return;
  }
  steps_.push_back(step);
  if (steps_.size() >= points_max_) widen();
}

/// Increases the least width of the curve's steps, so that about half of the steps remain.
void StepCurve::widen() {
  const std::int64_t all = steps_.back().begin_nanos + steps_.back().nanos - steps_[0].begin_nanos;
  const auto half = static_cast<std::int64_t>(std::max<std::size_t>(points_max_ / 2, 1));
  width_nanos_ = std::max(width_nanos_, all / half + 1);
  for (const Step& step : std::exchange(steps_, {})) append(step);
}

std::vector<TransferReport::Point> StepCurve::points(std::int64_t origin_nanos) const {
  std::vector<TransferReport::Point> points;
  for (const Step& step : steps_)
    points.push_back({step.begin_nanos - origin_nanos,
                      step.level_nanos / static_cast<double>(step.nanos), step.most});
  if (!steps_.empty())
    points.push_back({steps_.back().begin_nanos + steps_.back().nanos - origin_nanos, 0, 0});
  return points;
}

}  // namespace eventspace
