// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/saturating.hpp — overflow-safe sums of times. Times from a damaged file may be
// any numbers.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace eventspace {

/// Returns a + b, limited to ±(2^63 - 1) so that the result can be negated.
inline std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t both = 0;
  if (__builtin_add_overflow(a, b, &both)) return a < 0 ? -most : most;
  return std::max(both, -most);
}

/// Returns the nearest integer, limited to ±2^62; 0 if `value` is NaN.
inline std::int64_t saturating_round(double value) {
  constexpr double most = 0x1p62;
  if (std::isnan(value)) return 0;
  return std::llround(std::clamp(value, -most, most));
}

}  // namespace eventspace
