// SPDX-License-Identifier: Apache-2.0
// eventspace/record.hpp — fixed-size record of one event.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace eventspace {

/// Kind of an event. `EventRecord::place` is a stage of the plan, unless the kind states otherwise.
enum class EventKind : std::uint8_t {
  /// Operation that passed an event collector. The values 0 to 15 are the number of the operation.
  operation_first = 0,
  operation_last = 15,
  /// Life of a thread. `place`: rank of the thread. `down`, `up`: begin and end of its function. If
  /// `down` and `up` are equal, the record marks only the begin of the thread.
  thread = 16,
  /// Read of another cluster's value by a condition check.
  /// - down: time at which the check wanted the value.
  /// - up: time at which the check had the value, or decided without it.
  /// - slot: index of the cluster in Wrapper::combines of the check.
  /// - bytes: number of rounds by which the tuple with the value was ahead of the check's round.
  cache_read = 17,
  /// Prefetch of a tuple. `down`: time at which the read was sent. `up`: time at which the tuple
  /// was in the cache. `sequence`: number of the tuple.
  prefetch = 18,
  /// Message over an emulated link. `down`: time at which the message entered the link. `up`: time
  /// at which it arrived. `slot`: nanoseconds for which it waited behind earlier messages, at most
  /// 2^32 - 1.
  link = 19,
  /// Read of another host's clock. `place`: number of the other host. `down`: time at which the
  /// request left. `up`: time at which the reply arrived. `sequence`: time on the clock of the
  /// other host.
  clock = 20,  // values 21 to 24 and 29: GroupEvent (group_record.hpp)
  /// Data that lanes sent from one cluster to another, as packed in transfer_record.hpp.
  transfer = 25,
  /// A thread started an operation and continued without waiting for its result. `place`: rank of
  /// the thread. `slot`: number of the path in the plan. `sequence`: sequence of the operation.
  /// With the flag event_in_group, `slot` is the number of the host's share. `down`, `up`: begin
  /// and end of the call that started the operation.
  start = 26,
  /// A thread waited from `down` to `up` for an operation that it had started. The other fields
  /// have the same meaning as for `start`.
  wait = 27,
  /// A thread marked the end of an iteration. `place`: rank of the thread. `sequence`: index of
  /// the mark among the marks of the thread, from 0.
  iteration = 28,
};

/// Bits of EventRecord::flags.
inline constexpr std::uint8_t event_failed = 1;   ///< the operation failed
inline constexpr std::uint8_t event_one_way = 2;  ///< push: the operation has no reply
/// The operation is of the contributor that arrived last at the join below the collector.
inline constexpr std::uint8_t event_last_arriver = 4;
inline constexpr std::uint8_t event_proved = 8;      ///< a part of the values decided the condition
inline constexpr std::uint8_t event_cached = 16;     ///< cache read: the value was already cached
inline constexpr std::uint8_t event_remote = 32;     ///< the operation arrived from another host
inline constexpr std::uint8_t event_undecided = 64;  ///< cache read: decided without the value
inline constexpr std::uint8_t event_in_group = 128;  ///< the started operation is a group's
/// Read: `sequence` is the number of the tuple that was read. The bit is the same as that of
/// event_in_group, which occurs only in records of calls.
inline constexpr std::uint8_t event_numbered = 128;

/// Record of an event. For an operation that passed a collector, the times are those at which it
/// passed down and up. For other events, they are the begin and the end.
///
/// Units: nanoseconds on the clock of the host that made the record.
/// Paper: Bongo et al. 2004, §III-B: 36 bytes.
#pragma pack(push, 4)
struct EventRecord {
  std::uint32_t place = 0;          ///< stage of the plan, unless the kind states otherwise
  std::uint32_t slot = 0;           ///< number of a contributor, unless the kind states otherwise
  std::uint64_t sequence : 56 = 0;  ///< number of the round, unless the kind states otherwise
  std::uint64_t kind : 8 = 0;       ///< an EventKind or a GroupEvent
  std::int64_t down_nanos = 0;
  std::int64_t up_nanos = 0;
  std::uint32_t bytes : 24 = 0;  ///< payload bytes, at most event_bytes_max
  std::uint32_t flags : 8 = 0;
  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};
#pragma pack(pop)
static_assert(sizeof(EventRecord) == 36);
static_assert(std::endian::native == std::endian::little);  // trace files have this memory layout

/// Kind number of the operation `move`, by which threads contribute to rounds.
inline constexpr std::uint64_t move_operation = 1;

/// Names of operations, indexed by EventRecord::kind.
inline constexpr std::array<std::string_view, 13> operation_names = {
    "enter", "move",      "observe", "observe_number", "newest",  "first",  "last",
    "delta", "set_delta", "axe",     "delete_element", "release", "traffic"};
constexpr std::string_view operation_name_of(std::uint64_t kind) {
  return kind < operation_names.size() ? operation_names[kind] : "unknown";
}

/// Whether an operation reads a tuple of an element and waits for that tuple: observe,
/// observe_number, newest.
constexpr bool is_read_operation(std::uint64_t kind) { return kind >= 2 && kind <= 4; }
/// Whether an operation makes room in a full element: observe, observe_number, axe.
constexpr bool makes_room(std::uint64_t kind) { return kind == 2 || kind == 3 || kind == 9; }

inline constexpr std::uint32_t event_bytes_max = (1u << 24) - 1;

constexpr std::uint64_t number_of_kind(EventKind kind) { return static_cast<std::uint64_t>(kind); }

inline bool is(const EventRecord& record, EventKind kind) {
  return record.kind == number_of_kind(kind);
}

/// Whether the record describes a call by which a thread starts an operation, waits for an
/// operation, or marks an iteration.
inline bool is_call(const EventRecord& record) {
  return record.kind >= number_of_kind(EventKind::start) &&
         record.kind <= number_of_kind(EventKind::iteration);
}

inline bool is_operation(const EventRecord& record) {
  return record.kind <= static_cast<std::uint64_t>(EventKind::operation_last);
}

inline std::uint32_t capped_bytes(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, event_bytes_max));
}

}  // namespace eventspace
