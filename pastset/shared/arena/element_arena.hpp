// SPDX-License-Identifier: Apache-2.0
// pastset/shared/arena/element_arena.hpp — memory in the arena of a shared space for one element
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pastset/shared/arena/arena.hpp"
#include "pastset/shared/layout.hpp"
#include "pastset/shared/sizes.hpp"

namespace pastset {

/// Memory for the tuples above 48 bytes of one element, up to a limit. The largest tuples have an
/// extent (range of memory) each. Smaller tuples are stored one after the other in a common extent,
/// the chunk, until the chunk is full.
///
/// Why:         a process can die at any instruction. Each change therefore takes effect by one
///              store, as in SharedLog.
/// Thread-safe: no; one thread at a time.
/// Requires:    this process holds the lock of the element.
class ElementArena {
 public:
  using Room = SharedArena::Room;
  struct Place {
    std::uint64_t at = 0;
    std::uint32_t extent = 0;
  };
  ElementArena(SharedArena& arena, shared::Element& element, std::uint32_t index,
               std::uint64_t generation, std::uint64_t bytes)
      : arena_(arena),
        element_(element),
        index_(index),
        bytes_(bytes),
        charge_(SharedArena::charge_of(index, generation)) {}

  /// Size in bytes of the largest tuple that is copied while the element is held. Larger tuples are
  /// copied before the element is held, if there is memory.
  static constexpr std::size_t copied_while_held_max = page_bytes;
  bool never_fits(std::size_t bytes) const { return extent_bytes(bytes) > bytes_; }
  std::uint64_t bytes_used() const { return arena_.bytes_of(charge_); }

  /// Returns memory in which a caller writes a tuple before it is moved. Returns nullopt if the
  /// tuple is too small for an extent of its own, or if moves wait for memory. Also returns nullopt
  /// if the rest of the element's memory would be too small for `to_keep + 1` further tuples of
  /// `bytes` bytes.
  std::optional<Room> spare_room(std::size_t bytes, std::uint64_t to_keep) const;
  /// Returns memory, ahead of a move, for a tuple that is stored outside the space and is so large
  /// that the copy takes a while. Unlike spare_room(), it may also return memory in the chunk.
  std::optional<Room> room_ahead(std::size_t bytes, std::uint64_t to_keep);
  /// Returns the place for a tuple that is moved now; nullopt if there is no memory. If the tuple
  /// gets an extent of its own, sets `room`. The caller keeps `room` until the tuple is moved or
  /// leaves the line of waiting moves.
  std::optional<Place> place(std::size_t bytes, std::optional<Room>& room);
  /// Notes that the element keeps tuple `number` in the extent. Returns false if there is no such
  /// extent.
  bool note_tuple(std::uint32_t extent, std::uint64_t number);
  /// Repairs the element's notes in the arena after the death of a process that held the element.
  void mend(std::uint64_t last);

 private:
  std::optional<Room> own_room(std::size_t bytes, std::uint64_t spare) const;
  bool has_chunk_for(std::uint64_t lines);
  bool is_chunk_empty() const;
  bool begin_chunk();
  void leave_chunk();
  bool leave_empty_chunk();
  Place place_in_chunk(std::uint64_t lines);

  SharedArena& arena_;
  shared::Element& element_;
  const std::uint32_t index_;
  const std::uint64_t bytes_, charge_;
};

}  // namespace pastset
