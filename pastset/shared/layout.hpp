// SPDX-License-Identifier: Apache-2.0
// pastset/shared/layout.hpp — the bytes of a space that several processes map.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/payload.hpp"
#include "pastset/shared/sizes.hpp"
#include "runtime/processes/between_processes.hpp"

namespace pastset::shared {

// Zeros are an empty one of everything. What changes is atomic so that a wild write of another
// process is a wrong number and no more; who uses a number looks at it first.

using Word = std::atomic<std::uint32_t>;
using Long = std::atomic<std::uint64_t>;

inline constexpr std::size_t processes_max = 32;  ///< a bit each in a Word
inline constexpr std::size_t elements_max = shared_elements_max;
/// Of the arena: enough for as many elements as there may be, each full of tuples that have their
/// own, unless it has more than 16 MiB (chunk_bytes()).
inline constexpr std::size_t extents_max = 64 * elements_max;
inline constexpr std::size_t name_bytes = shared_name_bytes_max + 1;
inline constexpr std::size_t template_bytes = shared_template_bytes_max + 1, mark_bytes = 256;
inline constexpr std::size_t process_name_bytes = 64, who_bytes = 96;

/// "process 1234 (solver)", of one that has died; "" of none.
using Who = std::array<std::atomic<char>, who_bytes>;

/// A tuple: in place when it is small, in the arena when it is not.
struct alignas(line_bytes) Slot {
  Long ticket;  ///< counts moves of the element, in the order of their line
  Long bytes;
  /// The tuple; or where in the space it is, and in which extent.
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

/// Memory in the arena: of one large tuple, or of several smaller ones. It is free, without anybody
/// doing anything, once no process holds it and no element has a tuple in it that it keeps.
struct alignas(line_bytes) Extent {
  Long place;      ///< in the space
  Long bytes;      ///< from there on; 0: there is none
  Long counted;    ///< how many of them, ...
  Long charge;     ///< ... and to which element: index and generation
  Long elements;   ///< a bit for each that may have a tuple here: see `newest`
  Word processes;  ///< that write or read here, a bit each
  Word turns;      ///< counted after an element has come
};
/// Of the element's tuples in each extent, the number of the newest + 1.
using Newest = std::array<Long, extents_max>;

struct Element {
  enum State : std::uint32_t { nothing, live, deleted };
  Word state;
  Word line_count;  ///< blocked movers
  Long generation;  ///< told apart from others that were here before
  std::array<std::atomic<char>, name_bytes> name;
  std::array<std::atomic<char>, template_bytes> tuple_template;
  Long region, region_bytes;  ///< slots and line
  Long slots, line, arena_bytes;

  alignas(line_bytes) runtime::SharedLock lock;
  Word listeners;  ///< processes to ring after a change
  Word changes;    ///< counted, for who looks
  Word is_marked;
  Word is_guest;  ///< has tuples in extents that are another's
  Long oldest, first, last, delta, keep_newest;
  Long next_ticket;
  Word chunk;                  ///< where its next smaller tuple goes: an extent + 1
  Long chunk_used;             ///< bytes
  Long chunk_newest;           ///< as `newest` is, which says for ever until it is another's turn
  Word movers, takers;         ///< processes that have moved; that have observed or axed
  Who lost_mover, lost_taker;  ///< the last of them that died, none being left
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
  static constexpr std::uint32_t right_version = 3;
  Long magic;
  Word version;
  Word layout;  ///< tells sizes of the above apart
  Long bytes;
  Word is_open;  ///< what is in it from the beginning is there: it may be found
  Word user;
  Word process_changes;
  Word owner;          ///< its number + 1; 0 when it has left properly
  Word owner_is_dead;  ///< and owner_died says who it was
  Who owner_died;
  runtime::SharedLock lock;  ///< of what follows; before any element's
  std::array<std::atomic<char>, name_bytes> name;
  std::array<Process, processes_max> processes;
  std::array<Element, elements_max> elements;
  Long regions_end;  ///< of elements; what is left of the space may be the arena's

  alignas(line_bytes) runtime::SharedLock arena_lock;  ///< of who takes an extent; after any other
  Word extents_known;                                  ///< those before it were taken once
  Long wants_memory;  ///< elements, a bit each, with movers that wait for some
  std::array<Extent, extents_max> extents;
  std::array<Newest, elements_max> newest;

  static constexpr std::uint32_t right_layout = static_cast<std::uint32_t>(
      sizeof(Slot) + 3 * sizeof(Waiting) + 5 * sizeof(Element) + 7 * sizeof(Process) +
      11 * processes_max + 13 * elements_max + 17 * extents_max + 19 * sizeof(Extent));
};
/// Zeros when there is none at its place.
inline runtime::ProcessIdentity identity_in(const Segment& segment, std::uint32_t process) {
  const Process& it = segment.processes.at(process);
  if (it.state == Process::nobody) return {};
  return {it.pid, it.started};
}

inline constexpr std::size_t segment_head_bytes = in_pages(sizeof(Segment));

}  // namespace pastset::shared
