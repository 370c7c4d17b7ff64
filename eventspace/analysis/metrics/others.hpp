// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/others.hpp — median of all values of a set except one value.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eventspace {

/// Computes the median of all values of a set except one value. It serves to compare a thread or
/// host with all other threads or hosts.
class Others {
 public:
  void add(std::int64_t value) { values_.push_back(value); }
  /// Requires: called once, after the last add() and before the first median_without().
  void sort() { std::sort(values_.begin(), values_.end()); }
  /// Returns the median of all values except `value`, or 0 if there is no other value.
  std::int64_t median_without(std::int64_t value) const {
    if (values_.size() < 2) return 0;
    const auto place = std::lower_bound(values_.begin(), values_.end(), value) - values_.begin();
    const auto middle = static_cast<std::ptrdiff_t>((values_.size() - 2) / 2);
    return values_[static_cast<std::size_t>(place <= middle ? middle + 1 : middle)];
  }

 private:
  std::vector<std::int64_t> values_;
};

}  // namespace eventspace
