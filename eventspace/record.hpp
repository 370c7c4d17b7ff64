// SPDX-License-Identifier: Apache-2.0
// eventspace/record.hpp — what one event collector saw of one operation.
#pragma once
#include <cstdint>

namespace eventspace {

/// When an operation passed a collector down and up (Bongo et al. 2004, §III-B: 36 bytes).
#pragma pack(push, 4)
struct EventRecord {
  std::uint32_t collector = 0;  ///< number of the collector in its host
  std::uint32_t slot = 0;       ///< which contributor passed
  std::uint64_t sequence = 0;
  std::int64_t down_nanos = 0;  ///< on the host's clock
  std::int64_t up_nanos = 0;
  std::uint32_t bytes_and_flags = 0;  ///< payload bytes (low 24 bits, capped), flags above
};
#pragma pack(pop)
static_assert(sizeof(EventRecord) == 36);

inline constexpr std::uint32_t event_bytes_max = (1u << 24) - 1;
inline constexpr std::uint32_t event_failed = 1u << 24;   ///< a failure came up
inline constexpr std::uint32_t event_one_way = 1u << 25;  ///< nothing came up: a push
inline constexpr std::uint32_t event_kind_shift = 28;     ///< above: the number of the operation

}  // namespace eventspace
