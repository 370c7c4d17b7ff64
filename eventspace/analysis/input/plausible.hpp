// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/input/plausible.hpp — plausibility checks of recorded times.
#pragma once
#include <cstdint>

#include "eventspace/record.hpp"

namespace eventspace {

/// Whether a real clock can have shown both times of a record. If so, the difference of the two
/// times does not overflow.
inline bool has_possible_times(const EventRecord& record) {
  constexpr std::int64_t time_max = std::int64_t{1} << 61;  // more than 70 years
  const std::int64_t down = record.down_nanos;
  const std::int64_t up = record.up_nanos;
  return down >= -time_max && down <= time_max && up >= -time_max && up <= time_max;
}

/// Whether the times of a record can be those of a real event: possible, in order, and less than
/// about a year apart.
inline bool is_plausible(const EventRecord& record) {
  constexpr std::int64_t span_max = std::int64_t{1} << 55;  // more than a year
  return has_possible_times(record) && record.up_nanos >= record.down_nanos &&
         record.up_nanos - record.down_nanos <= span_max;
}

}  // namespace eventspace
