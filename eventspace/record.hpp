// SPDX-License-Identifier: Apache-2.0
// eventspace/record.hpp — what happened once, in 36 bytes.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace eventspace {

/// What a record is about. `place` is a stage of the plan but for `thread`.
enum class EventKind : std::uint8_t {
  /// An operation passed an event collector: its stage. 0 to 15: the number of the operation.
  operation_first = 0,
  operation_last = 15,
  /// A thread lived: its rank, from the begin of its function to its end.
  thread = 16,
  /// A condition check wanted a remote cluster's value: down is when it did, up when it had it or
  /// was decided without it. slot: place of the cluster among those the check combines; `bytes` is
  /// how far the tuple it got was ahead of the round.
  cache_read = 17,
  /// A prefetch: down when its read left, up when the tuple was in the cache; its sequence.
  prefetch = 18,
  /// A message over an emulated link: down when it came, up when it arrived. slot: nanoseconds it
  /// waited for those before it, at most 2^32 - 1.
  link = 19,
  /// A look at another host's clock: place: that host; down: when it was asked, up: when its answer
  /// came; sequence: what it showed.
  clock = 20,  // 21 to 24: of groups, group_record.hpp
  /// What lanes sent from one cluster to another: transfer_record.hpp.
  transfer = 25,
};

/// Facts known when the record was made.
inline constexpr std::uint8_t event_failed = 1;        ///< a failure came up
inline constexpr std::uint8_t event_one_way = 2;       ///< nothing came up: a push
inline constexpr std::uint8_t event_last_arriver = 4;  ///< of its round in the join below
inline constexpr std::uint8_t event_proved = 8;        ///< the condition was known from a part
inline constexpr std::uint8_t event_cached = 16;       ///< had already come when it was wanted
inline constexpr std::uint8_t event_remote = 32;       ///< came from another host
inline constexpr std::uint8_t event_undecided = 64;    ///< a cache read given up: decided without

/// When an operation passed a collector down and up (Bongo et al. 2004, §III-B: 36 bytes), or when
/// something else began and ended.
#pragma pack(push, 4)
struct EventRecord {
  std::uint32_t place = 0;          ///< stage of the plan, or rank of a thread
  std::uint32_t slot = 0;           ///< which contributor passed
  std::uint64_t sequence : 56 = 0;  ///< of the round
  std::uint64_t kind : 8 = 0;       ///< an EventKind
  std::int64_t down_nanos = 0;      ///< on the host's clock
  std::int64_t up_nanos = 0;
  std::uint32_t bytes : 24 = 0;  ///< of payload, at most event_bytes_max
  std::uint32_t flags : 8 = 0;
  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};
#pragma pack(pop)
static_assert(sizeof(EventRecord) == 36);
static_assert(std::endian::native == std::endian::little);  // records are written as they lie

/// The kind of operation that contributes to rounds.
inline constexpr std::uint64_t move_operation = 1;

inline constexpr std::uint32_t event_bytes_max = (1u << 24) - 1;

inline bool is_operation(const EventRecord& record) {
  return record.kind <= static_cast<std::uint64_t>(EventKind::operation_last);
}

inline std::uint32_t capped_bytes(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, event_bytes_max));
}

}  // namespace eventspace
