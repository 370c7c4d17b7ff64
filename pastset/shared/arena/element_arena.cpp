// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena/element_arena.cpp — placement of the tuples of one element in the arena
#include "pastset/shared/arena/element_arena.hpp"

#include <atomic>

namespace pastset {

std::optional<ElementArena::Room> ElementArena::own_room(std::size_t bytes,
                                                         std::uint64_t spare) const {
  return arena_.take(extent_bytes(bytes), charge_, bytes_, spare);
}

std::optional<ElementArena::Room> ElementArena::spare_room(std::size_t bytes,
                                                           std::uint64_t to_keep) const {
  if (!has_own_extent(bytes, bytes_) || arena_.wants_memory(index_)) return std::nullopt;
  return own_room(bytes, extent_bytes(bytes) * (1 + to_keep));
}

std::optional<ElementArena::Room> ElementArena::room_ahead(std::size_t bytes,
                                                           std::uint64_t to_keep) {
  if (has_own_extent(bytes, bytes_)) return spare_room(bytes, to_keep);
  // An element with keep_newest gives no memory in the chunk (common extent of smaller tuples)
  // ahead of a move. A process may pause between this call and its move. The chunk would then stay
  // in use, and other moves would wait for the memory of the chunk. With keep_newest, moves must
  // not block.
  if (element_.keep_newest.load(std::memory_order_relaxed) > 0) return std::nullopt;
  const std::uint64_t lines = in_lines(bytes);
  if (arena_.wants_memory(index_) || !has_chunk_for(2 * lines)) return std::nullopt;
  const Place place = place_in_chunk(lines);
  return Room{arena_.hold(place.extent), place.at};
}

std::optional<ElementArena::Place> ElementArena::place(std::size_t bytes,
                                                       std::optional<Room>& room) {
  if (has_own_extent(bytes, bytes_)) {
    room = own_room(bytes, 0);
    if (!room && leave_empty_chunk()) room = own_room(bytes, 0);
    if (!room) return std::nullopt;
    return Place{room->place, room->held.extent()};
  }
  const std::uint64_t lines = in_lines(bytes);
  if (!has_chunk_for(lines) && (!begin_chunk() || !has_chunk_for(lines))) return std::nullopt;
  return place_in_chunk(lines);
}

bool ElementArena::note_tuple(std::uint32_t extent, std::uint64_t number) {
  if (extent >= shared::extents_max) return false;
  if (extent + 1 == element_.chunk.load(std::memory_order_relaxed)) {
    element_.chunk_newest.store(number + 1, std::memory_order_relaxed);
    return true;
  }
  if (element_.is_guest.load(std::memory_order_relaxed) == 0 &&
      arena_.extents().entry(extent).charge != charge_)
    element_.is_guest = 1;
  arena_.extents().note_tuple(index_, extent, number);
  return true;
}

/// Completes or undoes two changes that a dead process may have left unfinished. The process may
/// have noted a tuple that it did not append. It may also have opened an extent that is not yet the
/// chunk, or not yet have closed an extent that is no longer the chunk.
void ElementArena::mend(std::uint64_t last) {
  arena_.extents().forget_beyond(index_, last, element_.chunk - 1);
}

// ---- chunk: common extent of smaller tuples --------------------------------------------------

bool ElementArena::has_chunk_for(std::uint64_t lines) {
  const std::uint32_t extent = element_.chunk.load(std::memory_order_relaxed) - 1;
  const ExtentTable::Range range = arena_.extents().range_of(extent);
  const std::uint64_t used = element_.chunk_used.load(std::memory_order_relaxed);
  if (range.bytes < lines) return false;
  if (used <= range.bytes - lines && used % line_bytes == 0) return true;
  if (!is_chunk_empty()) return false;
  element_.chunk_used.store(0, std::memory_order_relaxed);
  return true;
}

/// Whether no tuple is in the chunk, and no process reads or writes there.
/// Requires: there is a chunk.
bool ElementArena::is_chunk_empty() const {
  return element_.chunk_newest <= element_.oldest && !arena_.extents().is_held(element_.chunk - 1);
}

/// Frees the chunk if it is empty, because a tuple needs its memory. Returns false if there is no
/// chunk, or if the chunk is not empty.
bool ElementArena::leave_empty_chunk() {
  const std::uint32_t chunk = element_.chunk;
  if (chunk == 0 || chunk > shared::extents_max || !is_chunk_empty()) return false;
  leave_chunk();
  return true;
}

/// Reserves a place in the chunk, to which the caller writes afterwards. If the process dies before
/// it writes, the place stays unused, and becomes free with the rest of the chunk.
ElementArena::Place ElementArena::place_in_chunk(std::uint64_t lines) {
  const std::uint32_t extent = element_.chunk.load(std::memory_order_relaxed) - 1;
  const std::uint64_t used = element_.chunk_used.load(std::memory_order_relaxed);
  element_.chunk_used.store(used + lines, std::memory_order_relaxed);
  return {arena_.extents().range_of(extent).place + used, extent};
}

bool ElementArena::begin_chunk() {
  const std::optional<Room> room = arena_.take(chunk_bytes(bytes_), charge_, bytes_);
  if (!room) return false;
  leave_chunk();
  const std::uint32_t extent = room->held.extent();
  arena_.extents().open(index_, extent);
  element_.chunk_used = 0;
  element_.chunk_newest = 0;
  element_.chunk = extent + 1;
  return true;
}

/// Closes the chunk: no further tuple is stored in it. The memory of the chunk is free once its
/// tuples are dropped and no process reads them any more.
void ElementArena::leave_chunk() {
  const std::uint32_t chunk = element_.chunk;
  if (chunk == 0 || chunk > shared::extents_max) return;
  element_.chunk = 0;
  arena_.extents().close(index_, chunk - 1, element_.chunk_newest);
}

}  // namespace pastset
