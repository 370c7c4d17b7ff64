// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/distribution.cpp — distributions of many numbers in little memory.
#include "eventspace/analysis/report/distribution.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace eventspace {
namespace {

/// Binary logarithm of the number of ranges from each power of two to the next power of two. The
/// width of a range is at most 1/128 of its values.
constexpr int precision_bits = 7;

constexpr std::size_t blocks_max = 256;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

}  // namespace

void add_to(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = value < 0 ? least : greatest;
}

/// Returns the index of the range that contains a value. Each number from 1 to 255 has a range of
/// its own. All numbers up to 0 share one range.
std::uint32_t Distribution::index_of(std::int64_t value) {
  if (value <= 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(value);
  const int shift = std::max(0, static_cast<int>(std::bit_width(magnitude)) - precision_bits - 1);
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(shift) << precision_bits) +
                                    (magnitude >> shift));
}

/// Returns the least number in the range with this index.
std::int64_t Distribution::least_of(std::uint32_t index) {
  const std::uint32_t shift =
      std::max(1u, index >> precision_bits) - 1;  // no shift up to 255, see index_of
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(index - (shift << precision_bits))
                                   << shift);
}

void Distribution::add(std::int64_t value) {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  ++count_;
  add_to(sum_, value);
  const double from_centre = static_cast<double>(value) - centre_;
  centre_ += from_centre / static_cast<double>(count_);
  squares_ += from_centre * (static_cast<double>(value) - centre_);
  if (count_ <= exact_max_) {
    samples_.push_back(value);
    return;
  }
  if (!samples_.empty()) spill();
  add_to_range(value);
}

void Distribution::spill() {
  std::sort(samples_.begin(), samples_.end());
  for (const std::int64_t value : samples_) add_to_range(value);
  samples_ = {};
}

void Distribution::add_to_range(std::int64_t value) {
  const std::uint32_t index = index_of(value);
  if (last_range_ >= ranges_.size() || ranges_[last_range_].index != index) {
    auto range = std::lower_bound(ranges_.begin(), ranges_.end(), index,
                                  [](const Range& a, std::uint32_t b) { return a.index < b; });
    if (range == ranges_.end() || range->index != index) range = ranges_.insert(range, {index});
    last_range_ = static_cast<std::size_t>(range - ranges_.begin());
  }
  ++ranges_[last_range_].count;
  ranges_[last_range_].sum += static_cast<double>(value);
}

double Distribution::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

double Distribution::deviation() const {
  return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

std::int64_t Distribution::value_at(const std::vector<std::int64_t>& sorted, double share) const {
  if (count_ == 0) return 0;
  const auto wanted =
      static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_) - 1e-9));
  const std::uint64_t place = std::clamp<std::uint64_t>(wanted, 1, count_);
  if (!sorted.empty()) return sorted[place - 1];
  if (place == 1) return min_;
  if (place == count_) return max_;
  std::uint64_t seen = 0;
  for (const Range& range : ranges_) {
    seen += range.count;
    if (seen < place) continue;
    return std::clamp<std::int64_t>(std::llround(range.sum / static_cast<double>(range.count)),
                                    min_, max_);
  }
  return max_;
}

std::int64_t Distribution::quantile(double share) const {
  std::vector<std::int64_t> sorted = samples_;
  std::sort(sorted.begin(), sorted.end());
  return value_at(sorted, share);
}

std::uint64_t Distribution::count_at_most(std::int64_t value) const {
  if (!samples_.empty()) {
    return static_cast<std::uint64_t>(std::count_if(
        samples_.begin(), samples_.end(), [value](std::int64_t one) { return one <= value; }));
  }
  std::uint64_t seen = 0;
  for (const Range& range : ranges_) {
    if (range.sum > static_cast<double>(value) * static_cast<double>(range.count)) break;
    seen += range.count;
  }
  return seen;
}

std::vector<Bin> Distribution::bins() const {
  constexpr int coarser_bits = 2;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> counts;  // index and count of each bin
  for (const std::int64_t value : samples_) counts.emplace_back(index_of(value), 1);
  for (const Range& range : ranges_) counts.emplace_back(range.index, range.count);
  std::sort(counts.begin(), counts.end());
  std::vector<Bin> bins;
  for (const auto& [index, count] : counts) {
    const std::uint32_t first = index >> coarser_bits << coarser_bits;
    const std::int64_t from = least_of(first);
    if (bins.empty() || bins.back().from != from)
      bins.push_back({from, least_of(first + (1u << coarser_bits)), 0});
    bins.back().count += count;
  }
  return bins;
}

Summary Distribution::summary() const {
  std::vector<std::int64_t> sorted = samples_;
  std::sort(sorted.begin(), sorted.end());
  return {.count = count_,
          .mean = mean(),
          .deviation = deviation(),
          .min = min_,
          .p10 = value_at(sorted, 0.10),
          .p50 = value_at(sorted, 0.50),
          .p90 = value_at(sorted, 0.90),
          .p99 = value_at(sorted, 0.99),
          .max = max_};
}

void Blocks::add(std::int64_t value) {
  if (sums_.empty() || last_ == each_) {
    if (sums_.size() == blocks_max) {
      for (std::size_t pair = 0; pair < blocks_max / 2; ++pair)
        sums_[pair] = sums_[2 * pair] + sums_[2 * pair + 1];
      sums_.resize(blocks_max / 2);
      each_ *= 2;
    }
    sums_.push_back(0);
    last_ = 0;
  }
  sums_.back() += static_cast<double>(value);
  ++last_;
}

std::vector<Blocks::Row> Blocks::rows() const {
  std::vector<Row> rows;
  for (const double sum : sums_) rows.push_back({sum, each_});
  if (!rows.empty()) rows.back().count = last_;
  return rows;
}

}  // namespace eventspace
