// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/significance.cpp — comparisons that tell differences from chance.
#include "eventspace/analysis/report/significance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace eventspace {

bool noise_explains(std::int64_t more_nanos, std::int64_t event_nanos) {
  if (event_nanos <= 0) return false;
  const std::int64_t times = (more_nanos + event_nanos / 2) / event_nanos;
  if (times < 1 || times > noise_in_all_times) return false;
  const auto rest = static_cast<double>(std::abs(more_nanos - times * event_nanos));
  return rest <= noise_tolerance * static_cast<double>(event_nanos);
}

const MeanEstimate& Comparisons::estimate_of(const BlockRows& rows) {
  const auto [place, is_new] = estimates_.try_emplace(&rows);
  if (is_new) place->second = estimate_mean(rows, random_);
  return place->second;
}

std::size_t Comparisons::add(const BlockRows& rows, const BlockRows& usual) {
  if (std::min(rows.size(), usual.size()) >= resampled_rows_least)
    return add(estimate_of(rows), estimate_of(usual), 1);
  all_.push_back({.compared = {.nanos = mean_of(rows), .usual_nanos = mean_of(usual)}});
  return all_.size() - 1;
}

std::size_t Comparisons::add(const BlockRows& rows, double usual_nanos) {
  if (rows.size() < resampled_rows_least) {
    all_.push_back({.compared = {.nanos = mean_of(rows), .usual_nanos = usual_nanos}});
    return all_.size() - 1;
  }
  const MeanEstimate& one = estimate_of(rows);
  return add(one, {usual_nanos, 0, one.freedom}, 1);
}

std::size_t Comparisons::add(const MeanEstimate& one, const MeanEstimate& usual,
                             std::size_t searched) {
  const MeanEstimate change = difference_of(one, usual);
  One comparison;
  comparison.compared.nanos = one.mean;
  comparison.compared.usual_nanos = usual.mean;
  comparison.compared.is_known = true;
  comparison.deviation = change.deviation;
  comparison.freedom = change.freedom;
  comparison.searched = std::max<std::size_t>(1, searched);
  if (change.mean != 0) {
    const double single =
        change.deviation == 0
            ? 0
            : student_outside(std::abs(change.mean) / change.deviation, change.freedom);
    comparison.outside = std::min(1.0, single * static_cast<double>(comparison.searched));
  }
  all_.push_back(comparison);
  return all_.size() - 1;
}

/// Tests the n comparisons, beginning with the comparison that chance explains least. This
/// comparison is tested against the share chance_share / n, the next comparison against
/// chance_share / (n - 1), and so on, until chance may explain a comparison. The confidence
/// interval of a comparison excludes 0 if and only if its test rules chance out.
void Comparisons::correct() {
  std::vector<One*> known;
  for (One& one : all_)
    if (one.compared.is_known) known.push_back(&one);
  std::stable_sort(known.begin(), known.end(),
                   [](const One* a, const One* b) { return a->outside < b->outside; });
  bool is_chance = false;
  double share = chance_share;
  for (std::size_t place = 0; place < known.size(); ++place) {
    One& one = *known[place];
    if (!is_chance) share = chance_share / static_cast<double>(known.size() - place);
    is_chance = is_chance || one.outside > share;
    const double reach =
        one.deviation * student_quantile(share / static_cast<double>(one.searched), one.freedom);
    one.compared.low = one.compared.difference() - reach;
    one.compared.high = one.compared.difference() + reach;
  }
}

}  // namespace eventspace
