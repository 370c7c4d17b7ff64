// SPDX-License-Identifier: Apache-2.0
// pastset/shared/log/tuple_store.hpp — bytes of the tuples of a shared element
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/payload.hpp"
#include "pastset/shared/arena/element_arena.hpp"
#include "pastset/shared/layout.hpp"
#include "pastset/shared/mapping.hpp"

namespace pastset {

/// Thrown if a shared element has no room for a tuple and the move cannot wait for room.
class SharedSpaceFull : public ElementError {
 public:
  using ElementError::ElementError;
};

/// Stores the bytes of the tuples of an element, and reads them. A tuple of up to 48 bytes is in
/// its entry (shared::Slot). A larger tuple is in the arena.
///
/// Thread-safe: no; one thread at a time.
/// Requires:    the caller holds the element (SharedLog::Held), except in copy().
/// Throws:      SharedSpaceError if a value in the memory is invalid.
class TupleStore {
 public:
  using Room = SharedArena::Room;
  TupleStore(const SharedMapping& mapping, shared::Element& element, std::uint32_t index,
             std::uint64_t generation, std::uint64_t arena_bytes)
      : mapping_(mapping),
        element_(element),
        memory_(mapping.arena(), element, index, generation, arena_bytes) {}

  ElementArena& memory() { return memory_; }  ///< memory for tuples above 48 bytes
  /// Writes a tuple into an entry. Copies a large tuple into the arena, unless it is there already
  /// (`room` is set). Otherwise sets `room` as ElementArena::place() does. Returns false if there
  /// is no memory for the tuple now. Throws SharedSpaceFull if the tuple can never fit.
  bool store(shared::Slot& slot, std::span<const std::byte> tuple, std::optional<Room>& room);
  /// Notes in the arena which extent contains the tuple. Must be called before the tuple is
  /// appended. If the process dies between the note and the append, the repair drops the note.
  void note_tuple(const shared::Slot& slot, std::uint64_t number);
  /// Returns a tuple. A large tuple stays in memory until the last copy of the payload is
  /// destroyed.
  base::Payload read(const shared::Slot& slot, const std::shared_ptr<SharedMapping>& mapping) const;
  base::Payload copy(const shared::Slot& slot) const;

 private:
  struct Bytes {
    std::span<const std::byte> large;  ///< bytes of a large tuple, in its extent
    std::uint32_t extent = 0;
    base::Payload small;
  };
  Bytes bytes_of(const shared::Slot& slot) const;
  std::optional<ElementArena::Place> place(std::span<const std::byte> tuple,
                                           std::optional<Room>& room);

  const SharedMapping& mapping_;
  shared::Element& element_;
  ElementArena memory_;
};

/// Whether the tuple of an entry is in the arena.
inline bool is_large(const shared::Slot& slot) {
  return slot.bytes.load(std::memory_order_relaxed) > base::Payload::inline_bytes;
}
/// Returns the index of the extent that contains the large tuple of an entry. If a faulty process
/// overwrote the entry, the index is wrong, but at most extents_max.
std::uint32_t extent_of(const shared::Slot& slot);
void copy_slot(const shared::Slot& from, shared::Slot& to);

}  // namespace pastset
