// SPDX-License-Identifier: Apache-2.0
// pastset/shared/layout.hpp — byte layout of a shared space
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/payload.hpp"
#include "pastset/shared/sizes.hpp"
#include "runtime/processes/between_processes.hpp"

namespace pastset::shared {

// Every type here is valid and empty if all its bytes are zero. Fields that change are atomic, so
// that a wild write of another process yields only a wrong number. Readers check each number before
// they use it.

using Word = std::atomic<std::uint32_t>;
using Long = std::atomic<std::uint64_t>;

inline constexpr std::size_t processes_max = 32;  ///< each process has one bit of a 32-bit Word
/// Number of extents in the arena. It suffices for shared_elements_max elements that are full of
/// tuples with extents of their own, unless an element has more than 16 MiB (chunk_bytes()).
inline constexpr std::size_t extents_max = 64 * shared_elements_max;
inline constexpr std::size_t name_bytes = shared_name_bytes_max + 1;
inline constexpr std::size_t template_bytes = shared_template_bytes_max + 1, mark_bytes = 256;
inline constexpr std::size_t process_name_bytes = 64, who_bytes = 96;

/// Description of a dead process, such as "process 1234 (solver)"; empty if there is none.
using Who = std::array<std::atomic<char>, who_bytes>;

/// Entry of one tuple. A small tuple is stored in the entry, any other tuple in the arena.
struct alignas(line_bytes) Slot {
  Long ticket;  ///< sequence number of the move, counted from 1 per element
  Long bytes;
  /// A small tuple's bytes; for any other tuple, its place in the space and its extent.
  std::array<Long, base::Payload::inline_bytes / sizeof(Long)> inside;
};
static_assert(sizeof(Slot) == line_bytes);

/// A blocked mover in the waiting line of an element.
struct Waiting {
  enum State : std::uint32_t {
    nobody,
    needs_memory,  ///< the tuple is not in shared memory yet
    ready,         ///< the next process that makes room appends the tuple
    admitted,      ///< the tuple was appended
  };
  Slot slot;  ///< tuple and ticket; the smallest ticket is served first
  Word state;
  Word process;
  Long number;  ///< number of the tuple, valid once admitted
};

/// Memory in the arena for one large tuple or for several smaller ones. An extent is free while no
/// process holds it and no element keeps a tuple in it. No process has to release it.
struct alignas(line_bytes) Extent {
  Long place;      ///< offset of the extent in the space
  Long bytes;      ///< length; 0 = no memory
  Long counted;    ///< bytes that count towards the limit of one element
  Long charge;     ///< the element whose limit counts: SharedArena::charge_of()
  Long elements;   ///< bit per element that may have a tuple here; `newest` has its number
  Word processes;  ///< bit per process that writes or reads here
  Word turns;      ///< incremented after an element takes or uses the extent
};
/// Number of the element's newest tuple in each extent, plus 1.
using Newest = std::array<Long, extents_max>;

struct Element {
  enum State : std::uint32_t { nothing, live, deleted };
  Word state;
  Word line_count;  ///< number of blocked movers
  Long generation;  ///< distinguishes successive elements with the same index
  std::array<std::atomic<char>, name_bytes> name;
  std::array<std::atomic<char>, template_bytes> tuple_template;
  Long region, region_bytes;  ///< memory of the entries and the line
  Long slots, line, arena_bytes;

  alignas(line_bytes) runtime::SharedLock lock;
  Word listeners;  ///< bit per process to wake after a change
  Word changes;    ///< change counter for polling processes
  Word is_marked;
  Word is_guest;  ///< 1 = some tuples are in extents charged to other elements
  Long oldest, first, last, delta, keep_newest;
  Long next_ticket;
  Word chunk;       ///< extent for the next smaller tuple, plus 1; 0 = none
  Long chunk_used;  ///< bytes used in the chunk
  /// Number of the newest tuple in the chunk, plus 1. While the chunk is open, its entry in
  /// Segment::newest is the greatest integer. When the chunk is closed, the entry is set to this
  /// number.
  Long chunk_newest;
  /// Bit per process: `movers` have moved a tuple, `takers` have observed or axed.
  Word movers, takers;
  /// The last process of `movers` or of `takers`, if it died; empty while such a process is alive.
  Who lost_mover, lost_taker;
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
  Word layout;  ///< checksum of the sizes of these structs
  Long bytes;
  Word is_open;  ///< initial elements are present, so processes may find the space
  Word user;
  Word process_changes;
  Word owner;          ///< index of the owner, plus 1; 0 after the owner detached properly
  Word owner_is_dead;  ///< set once owner_died names the owner
  Who owner_died;
  runtime::SharedLock lock;  ///< guards the fields below; taken before any element's lock
  std::array<std::atomic<char>, name_bytes> name;
  std::array<Process, processes_max> processes;
  std::array<Element, shared_elements_max> elements;
  Long regions_end;  ///< end of the elements' regions; the arena may use the rest

  /// Guards the taking of extents. Taken after any other lock.
  alignas(line_bytes) runtime::SharedLock arena_lock;
  Word extents_known;  ///< number of entries of `extents` that were ever used
  Long wants_memory;   ///< bit per element with movers that wait for memory
  std::array<Extent, extents_max> extents;
  std::array<Newest, shared_elements_max> newest;

  static constexpr std::uint32_t right_layout = static_cast<std::uint32_t>(
      sizeof(Slot) + 3 * sizeof(Waiting) + 5 * sizeof(Element) + 7 * sizeof(Process) +
      11 * processes_max + 13 * shared_elements_max + 17 * extents_max + 19 * sizeof(Extent));
};
/// Returns the process at that index; zeros if there is none.
inline runtime::ProcessIdentity identity_in(const Segment& segment, std::uint32_t process) {
  const Process& it = segment.processes.at(process);
  if (it.state == Process::nobody) return {};
  return {it.pid, it.started};
}

inline constexpr std::size_t segment_head_bytes = in_pages(sizeof(Segment));

}  // namespace pastset::shared
