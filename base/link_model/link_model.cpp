// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_model.cpp — queueing, transmission and latency of a link
#include "base/link_model/link_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/errors.hpp"

namespace tuning {
namespace {

/// Returns the transmission time, rounded up so that a link never exceeds its bandwidth. The result
/// is at most time_max, because longer waits are useless.
base::Nanos occupied(std::uint64_t bytes, double bits_per_second) {
  if (bits_per_second <= 0) return base::Nanos(0);
  const long double nanos = std::ceil(static_cast<long double>(bytes) * 8e9L / bits_per_second);
  if (nanos >= static_cast<long double>(base::time_max.count())) return base::time_max;
  return base::Nanos(static_cast<base::Nanos::rep>(nanos));
}

}  // namespace

LinkModel::LinkModel(base::Nanos latency, double bits_per_second)
    : samples_{LinkSample{base::Nanos(0), latency, bits_per_second}} {}

LinkModel::LinkModel(std::vector<LinkSample> samples, base::Nanos period)
    : samples_(std::move(samples)), period_(period) {
  ENSURE(!samples_.empty() && samples_.front().from == base::Nanos(0));
  ENSURE(std::is_sorted(samples_.begin(), samples_.end(),
                        [](const auto& a, const auto& b) { return a.from < b.from; }));
  ENSURE(period_ == base::Nanos(0) || period_ > samples_.back().from);
}

const LinkSample& LinkModel::at(base::Nanos now) const {
  const base::Nanos when = period_ > base::Nanos(0) ? now % period_ : now;
  const auto after = std::upper_bound(
      samples_.begin() + 1, samples_.end(), when,
      [](base::Nanos time, const LinkSample& sample) { return time < sample.from; });
  return *(after - 1);
}

LinkModel LinkModel::scaled(double latency_factor, double bandwidth_factor) const {
  LinkModel result = *this;
  for (LinkSample& sample : result.samples_) {
    const double nanos = static_cast<double>(sample.latency.count()) * latency_factor;
    const auto most = static_cast<double>(base::time_max.count());
    sample.latency = base::Nanos(static_cast<base::Nanos::rep>(std::min(nanos, most)));
    sample.bits_per_second *= bandwidth_factor;
  }
  return result;
}

LinkModel::Passage LinkModel::pass(base::Nanos now, base::Nanos busy_until,
                                   std::uint64_t bytes) const {
  const base::Nanos begin = std::max(now, busy_until);
  const LinkSample& sample = at(begin);
  const base::Nanos takes = occupied(bytes, sample.bits_per_second);
  if (begin > base::Nanos::max() - takes - sample.latency)
    throw std::overflow_error("a message would arrive after the end of the clock, in 292 years");
  const base::Nanos free_again = begin + takes;
  return {free_again, free_again + sample.latency};
}

base::Nanos LinkModel::lasts(std::size_t sample) const {
  const bool is_last = sample + 1 == samples_.size();
  return (is_last ? period_ : samples_[sample + 1].from) - samples_[sample].from;
}

LinkSample LinkModel::worst_but(double share) const {
  if (samples_.size() == 1) return samples_.front();
  const double skipped = share * static_cast<double>(period_.count());
  const auto worst = [&](const auto& is_worse) {
    std::vector<std::size_t> order(samples_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
      return is_worse(samples_[left], samples_[right]);
    });
    double passed = 0;
    for (const std::size_t sample : order)
      if ((passed += static_cast<double>(lasts(sample).count())) > skipped) return samples_[sample];
    return samples_[order.back()];
  };
  const auto slowness = [](const LinkSample& sample) {
    return sample.bits_per_second > 0 ? 1 / sample.bits_per_second : 0;
  };
  LinkSample found;
  found.latency = worst([](const auto& a, const auto& b) { return a.latency > b.latency; }).latency;
  found.bits_per_second = worst([&](const auto& a, const auto& b) {
                            return slowness(a) > slowness(b);
                          }).bits_per_second;
  return found;
}

}  // namespace tuning
