// SPDX-License-Identifier: Apache-2.0
// base/link_model/measurement.cpp — medians of batches, and the agreement of the two lowest
#include "base/link_model/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/errors.hpp"

namespace tuning {
namespace {

/// Returns the median. For an even number of samples, the median is the lower of the two middle
/// samples.
base::Nanos median(std::vector<base::Nanos> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

double nanos(base::Nanos time) { return static_cast<double>(time.count()); }

}  // namespace

bool Interference::disturbs() const {
  constexpr auto switch_each = std::chrono::milliseconds(20);
  return steal_ticks > 0 ||
         nanos(wall) < static_cast<double>(involuntary_switches) * nanos(switch_each);
}

Measurement::Measurement(std::vector<double> weights, StopRule rule) : rule_(rule) {
  ENSURE(!weights.empty());
  for (const double weight : weights) things_.push_back({weight});
}

void Measurement::add(const std::vector<std::vector<base::Nanos>>& batch) {
  ENSURE_EQ(batch.size(), things_.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    ENSURE(!batch[i].empty());
    Lowest& lowest = things_[i];
    const base::Nanos middle = median(batch[i]);
    lowest.second = std::min(lowest.second, std::max(lowest.first, middle));
    lowest.first = std::min(lowest.first, middle);
  }
  ++batches_;
}

Measurement::State Measurement::state() const {
  if (batches_ >= rule_.batches_least && spread() <= rule_.agreement) return State::agreed;
  return batches_ + rejected_ >= rule_.batches_most ? State::over : State::more;
}

double Measurement::figure() const {
  if (batches_ == 0) return 0;
  double sum = 0;
  for (const Lowest& one : things_) sum += one.weight * nanos(one.first);
  return sum;
}

double Measurement::spread() const {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (batches_ < 2) return infinite;
  double off = 0;
  for (const Lowest& one : things_) off += std::abs(one.weight) * nanos(one.second - one.first);
  if (off == 0) return 0;
  return figure() > 0 ? off / figure() : infinite;
}

bool Measurement::is_usable() const {
  constexpr double usable = 0.25;
  return batches_ >= rule_.batches_least && spread() <= usable;
}

std::size_t samples_of_batch(base::Nanos sample, base::Nanos batch, std::size_t least,
                             std::size_t most) {
  const auto fit = sample.count() > 0 ? static_cast<std::size_t>(batch / sample) : most;
  return std::clamp(fit, least, most);
}

}  // namespace tuning
