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

// The types here describe the memory of a shared space. Memory of zeros is a valid, empty object of
// each type. Fields that change are atomic. If a faulty process overwrites a field, readers
// therefore only get a wrong number. Readers check each number before they use it.

using Word = std::atomic<std::uint32_t>;
using Long = std::atomic<std::uint64_t>;
inline constexpr auto relaxed = std::memory_order_relaxed;

inline constexpr std::size_t processes_max = 32;  ///< each process has one bit of a Word
/// Number of extents (ranges of memory for large tuples) in the arena. If no element has more than
/// 16 MiB of memory (chunk_bytes()), this number always suffices: even all shared_elements_max
/// elements can be full of tuples with extents of their own.
inline constexpr std::size_t extents_max = 64 * shared_elements_max;
inline constexpr std::size_t name_bytes = shared_name_bytes_max + 1;
inline constexpr std::size_t template_bytes = shared_template_bytes_max + 1, mark_bytes = 256;
inline constexpr std::size_t process_name_bytes = 64, who_bytes = 96;

/// Text about a process that has died, such as "process 1234 (solver)"; empty if no process has
/// died.
using Who = std::array<std::atomic<char>, who_bytes>;

/// Entry of an element for one tuple. Tuples of up to 48 bytes are stored in the entry, larger
/// tuples in the arena.
struct alignas(line_bytes) Slot {
  Long ticket;  ///< sequence number of the move in its element, from 1
  Long bytes;
  /// A tuple of up to 48 bytes is stored here. For a larger tuple: its offset in the space, and the
  /// index of its extent.
  std::array<Long, base::Payload::inline_bytes / sizeof(Long)> inside;
};
static_assert(sizeof(Slot) == line_bytes);

/// One place in the line of an element (the queue of moves that wait for room), and the move that
/// waits at this place.
struct Waiting {
  enum State : std::uint32_t {
    nobody,
    needs_memory,  ///< the tuple is not in shared memory yet
    ready,         ///< the next process that makes room appends the tuple
    admitted,      ///< the tuple was appended
  };
  /// Tuple and ticket of the move. The move with the smallest ticket is served first.
  Slot slot;
  Word state;
  Word process;
  /// Number of the tuple, valid when `state` is `admitted`.
  Long number;
};

/// An extent: memory in the arena for one large tuple, or for several smaller tuples. An extent is
/// free while no process holds it and no element keeps a tuple in it. No process has to release an
/// extent.
struct alignas(line_bytes) Extent {
  Long place;    ///< offset of the extent in the space
  Long bytes;    ///< length of the extent; 0 = it has no memory
  Long counted;  ///< bytes of the extent that count towards an element's limit
  /// Identifies the element towards whose limit the bytes of `counted` count
  /// (SharedArena::charge_of()).
  Long charge;
  /// One bit for each element that possibly keeps a tuple in this extent. Segment::newest has the
  /// number of that element's newest tuple in this extent.
  Long elements;
  Word processes;  ///< one bit for each process that writes or reads the extent
  Word turns;      ///< incremented whenever an element takes the extent or notes a tuple in it
};
/// Number of the newest tuple of one element in each extent, plus 1; 0 = none.
using Newest = std::array<Long, extents_max>;

struct Element {
  enum State : std::uint32_t { nothing, live, deleted };
  enum MarkState : std::uint32_t { unmarked, marked_error, marked_loss };
  Word state;
  Word line_count;  ///< number of moves that wait for room
  Long generation;  ///< number that distinguishes the elements that successively have this index
  std::array<std::atomic<char>, name_bytes> name;
  std::array<std::atomic<char>, template_bytes> tuple_template;
  Long region, region_bytes;  ///< memory of the entries and of the line: offset and length
  Long slots, line, arena_bytes;

  alignas(line_bytes) runtime::SharedLock lock;
  Word listeners;  ///< one bit for each process to wake after a change
  Word changes;    ///< number of changes so far; processes that poll read it
  Word mark_state;
  Word is_guest;  ///< 1 = has tuples in extents that count towards limits of other elements
  Long oldest, first, last, delta, keep_newest;
  Long next_ticket;
  Word chunk;       ///< index of the chunk's extent, plus 1; 0 = no chunk
  Long chunk_used;  ///< bytes used in the chunk
  /// Number of the newest tuple in the chunk, plus 1. While the chunk is open, Segment::newest
  /// contains the greatest integer for the chunk's extent, so that the extent counts as in use.
  /// When the chunk is closed, this number replaces the greatest integer.
  Long chunk_newest;
  /// `movers` has one bit for each process that has moved a tuple. `takers` has one bit for each
  /// process that has observed or axed.
  Word movers, takers;
  /// `lost_mover` describes the process that left `movers` last, if it died. `lost_mover` is empty
  /// if that process did not die, and while `movers` contains a process. `lost_taker` does the same
  /// for `takers`.
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
  Word is_open;  ///< 1 = the first elements exist, so processes may find the space
  Word user;
  Word process_changes;
  /// Index of the owner, plus 1; 0 after the owner has detached properly.
  Word owner;
  Word owner_is_dead;  ///< 1 = the owner has died, and owner_died describes it
  Who owner_died;
  /// Guards the fields below. A process takes this lock first, before the lock of any element.
  runtime::SharedLock lock;
  std::array<std::atomic<char>, name_bytes> name;
  std::array<Process, processes_max> processes;
  std::array<Element, shared_elements_max> elements;
  Long regions_end;  ///< end of the elements' regions; the rest is for the arena

  /// Guards the allocation of extents. A process takes this lock last, after all its other locks.
  alignas(line_bytes) runtime::SharedLock arena_lock;
  Word extents_known;  ///< number of entries of `extents` that were ever used
  Long wants_memory;   ///< one bit for each element whose moves wait for memory
  std::array<Extent, extents_max> extents;
  std::array<Newest, shared_elements_max> newest;

  static constexpr std::uint32_t right_layout = static_cast<std::uint32_t>(
      sizeof(Slot) + 3 * sizeof(Waiting) + 5 * sizeof(Element) + 7 * sizeof(Process) +
      11 * processes_max + 13 * shared_elements_max + 17 * extents_max + 19 * sizeof(Extent));
};
/// Returns the process with the index `process` in the space; zeros if there is none.
inline runtime::ProcessIdentity identity_in(const Segment& segment, std::uint32_t process) {
  const Process& it = segment.processes.at(process);
  if (it.state == Process::nobody) return {};
  return {it.pid, it.started};
}

/// Returns the bytes of an element's region: its entries and the line.
constexpr std::uint64_t region_bytes(const SharedSizes& sizes) {
  return sizes.slots * sizeof(Slot) + sizes.line * sizeof(Waiting);
}

inline constexpr std::size_t segment_head_bytes = in_pages(sizeof(Segment));

}  // namespace pastset::shared
