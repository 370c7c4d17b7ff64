// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element_arena.hpp — what one element has of its space's arena.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pastset/shared/arena.hpp"
#include "pastset/shared/layout.hpp"
#include "pastset/shared/sizes.hpp"

namespace pastset {

/// Memory for an element's tuples above 48 bytes, of which it may have so much at once: the largest
/// have an extent each, others are one behind the other in one that is the chunk until it is full.
///
/// Why:     each change becomes true by one store, as in the log (SharedLog).
/// Sharing: a view, one thread's at a time, while the element is held.
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

  /// What takes longer is copied before the element is taken, where there is memory.
  static constexpr std::size_t copied_while_held_max = page_bytes;
  bool never_fits(std::size_t bytes) const { return extent_bytes(bytes) > bytes_; }
  std::uint64_t bytes_used() const { return arena_.bytes_of(charge_); }

  /// An extent to write a tuple in before it is moved; none when it is to have none, when others
  /// wait for memory, or when less would be left than for the tuple of whoever holds the element
  /// and for so many that it is yet to keep.
  std::optional<Room> spare_room(std::size_t bytes, std::uint64_t to_keep) const;
  /// The same for a tuple that is there and takes a while to be copied, in the chunk, too.
  std::optional<Room> room_ahead(std::size_t bytes, std::uint64_t to_keep);
  /// For a tuple that comes now; none when there is no memory. An extent of its own is the caller's
  /// room, to be held until the tuple is moved or has left the line.
  std::optional<Place> place(std::size_t bytes, std::optional<Room>& room);
  /// It is one from now on. False when there is no such extent.
  bool note_tuple(std::uint32_t extent, std::uint64_t number);
  /// Some may be gone.
  void note_gone() const;
  /// After a holder of the element has died.
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
