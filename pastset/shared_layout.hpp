// SPDX-License-Identifier: Apache-2.0
// pastset/shared_layout.hpp — the bytes of a space that several processes map.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/payload.hpp"
#include "pastset/shared_sizes.hpp"
#include "runtime/between_processes.hpp"

namespace pastset::shared {

// Zeros are an empty one of everything. What changes is atomic so that a wild write of another
// process is a wrong number and no more; who uses a number looks at it first.

using Word = std::atomic<std::uint32_t>;
using Long = std::atomic<std::uint64_t>;

inline constexpr std::size_t processes_max = 32;  ///< a bit each in a Word
inline constexpr std::size_t elements_max = shared_elements_max;
inline constexpr std::size_t pins_max = 16;  ///< tuples of one element that one process may pin
inline constexpr std::size_t name_bytes = shared_name_bytes_max + 1;
inline constexpr std::size_t template_bytes = shared_template_bytes_max + 1, mark_bytes = 256;
inline constexpr std::size_t process_name_bytes = 64, who_bytes = 96;

/// "process 1234 (solver)", of one that has died; "" of none.
using Who = std::array<std::atomic<char>, who_bytes>;

/// A tuple: in place when it is small, in the arena of its element when it is not.
struct alignas(line_bytes) Slot {
  Long ticket;  ///< counts moves of the element, in the order of their line
  Long bytes;
  /// The tuple, or first its place in the arena, which never repeats: modulo the arena's size.
  std::array<Long, base::Payload::inline_bytes / sizeof(Long)> inside;
};
static_assert(sizeof(Slot) == line_bytes);

/// A mover that is blocked.
struct Waiting {
  enum State : std::uint32_t {
    nobody,
    needs_memory,  ///< its tuple is not here yet
    ready,         ///< to be appended by whoever makes room
    admitted,      ///< it was
  };
  Slot slot;  ///< its ticket says who came first
  Word state;
  Word process;
  Long number;  ///< when admitted
};

/// A tuple in the arena that somebody reads.
struct Pin {
  Long place;  ///< + 1
  Long bytes;
};
using Pins = std::array<Pin, pins_max>;  ///< of a process

struct Element {
  enum State : std::uint32_t { nothing, live, deleted };
  Word state;
  Word line_count;  ///< blocked movers
  Long generation;  ///< told apart from others that were here before
  std::array<std::atomic<char>, name_bytes> name;
  std::array<std::atomic<char>, template_bytes> tuple_template;
  Long region, region_bytes;  ///< slots, line, pins, arena: in this order
  Long slots, line, arena_bytes;

  alignas(line_bytes) runtime::SharedLock lock;
  Word listeners;  ///< processes to ring after a change
  Word changes;    ///< counted, for who looks
  Word wants_memory;
  Word is_marked;
  Long oldest, first, last, delta, keep_newest;
  Long next_ticket;
  Long arena_next, arena_tail;  ///< what is from here on; what may still be used is not before it
  Word movers, takers;          ///< processes that have moved; that have observed or axed
  Who lost_mover, lost_taker;   ///< the last of them that died, none being left
  std::array<std::atomic<char>, mark_bytes> mark;
};

struct Process {
  enum State : std::uint32_t { nobody, here };
  Word state;
  Word pid;
  Long started;
  runtime::SharedBell bell;
  std::array<std::atomic<char>, process_name_bytes> name;
};

struct Segment {
  static constexpr std::uint64_t right_magic = 0x3145434150534850;  // "PHSPACE1"
  static constexpr std::uint32_t right_version = 2;
  Long magic;
  Word version;
  Word layout;  ///< tells sizes of the above apart
  Long bytes;
  Word user;
  Word process_changes;
  Word owner;          ///< its number + 1; 0 when it has left properly
  Word owner_is_dead;  ///< and owner_died says who it was
  Who owner_died;
  runtime::SharedLock lock;  ///< of what follows; before any element's
  std::array<std::atomic<char>, name_bytes> name;
  std::array<Process, processes_max> processes;
  std::array<Element, elements_max> elements;

  static constexpr std::uint32_t right_layout = static_cast<std::uint32_t>(
      sizeof(Slot) + 3 * sizeof(Waiting) + 5 * sizeof(Element) + 7 * sizeof(Process) +
      11 * processes_max + 13 * elements_max + 17 * pins_max);
};
inline constexpr std::size_t segment_head_bytes = (sizeof(Segment) + 4095) / 4096 * 4096;

}  // namespace pastset::shared
